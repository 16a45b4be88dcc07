// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/engine/cold/writer.hpp"

namespace hbf::kv::cold {

Result<> Log::Writer::wipe(const Identity &tenant) {
    Lock lock(mutex_);
    if (auto usable_now = usable(); !usable_now) return usable_now;
    changed_.wait(lock, [&] { return !syncing_ && !reclaiming_; });
    if (auto alone = store->folder.begin_alone(); !alone) return alone;
    open_ = nullptr;
    Result<> done;
    while (done && in_flight()) done = reap(true);
    written_.clear();
    const Pages zeros(1 << 20);
    for (uint32_t number = 0; done && number < store->segments.size(); ++number) {
        Segment &segment = store->segments[number];
        if (!segment.fd) continue;
        let_go(number, {});
        for (uint64_t at = 0; done && at < segment_bytes_; at += zeros.size())
            done = write_at(store->calls, segment.fd.get(), zeros.data(), std::min(zeros.size(), segment_bytes_ - at), at,
                            segment.file);
        if (done) done = sync_file(store->calls, segment.fd.get(), segment.file);
    }
    for (const Batch &batch : batches_) std::fill_n(batch.memory.data(), batch.memory.size(), std::byte{0});
    if (done) done = store->folder.hand_to(tenant, store->calls);
    head_.reset();
    durable_ = next_batch_ - 1;
    store->folder.end_alone();
    if (!done) return give_up(done.error());
    changed_.notify_all();
    return {};
}

} // namespace hbf::kv::cold
