// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/batch_pages.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/cold/io.hpp"

namespace hbf::kv::cold {

BatchPages::BatchPages(const Store &store, uint32_t segment)
    : places_(store.segments[segment].batches), there_(places_.size(), false),
      pages_(std::max<size_t>(places_.size(), 1) * page_size), calls_(store.calls) {
    calls_.read = [this, read = store.calls.read](int fd, void *data, size_t size, uint64_t offset) -> int64_t {
        const auto place = std::lower_bound(places_.begin(), places_.end(), offset / page_size);
        const auto i = static_cast<size_t>(place - places_.begin());
        if (size != page_size || place == places_.end() || *place * page_size != offset || !there_[i])
            return read(fd, data, size, offset);
        std::memcpy(data, pages_.data() + i * page_size, page_size);
        return static_cast<int64_t>(page_size);
    };
    const int fd = store.segments[segment].fd.get();
    const auto io = make_io(32, store.uring, store.calls);
    if (io->one_by_one()) return; // nothing to be gained
    std::vector<size_t> reading(io->depth());
    std::vector<uint32_t> free(io->depth());
    for (uint32_t id = 0; id < free.size(); ++id) free[id] = id;
    for (size_t begun = 0, done = 0; done < places_.size();) {
        for (; begun < places_.size() && !free.empty(); ++begun) {
            const uint32_t id = free.back();
            free.pop_back();
            reading[id] = begun;
            io->begin({fd, false, pages_.data() + begun * page_size, page_size, places_[begun] * page_size, id});
        }
        IoDone finished[32];
        const size_t count = io->finish(finished, true);
        for (size_t i = 0; i < count; ++i) {
            there_[reading[finished[i].id]] = finished[i].error == 0; // else whoever asks for it is told why
            free.push_back(finished[i].id);
        }
        done += count;
    }
}

} // namespace hbf::kv::cold
