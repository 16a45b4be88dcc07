// SPDX-License-Identifier: Apache-2.0
// Every batch outside the youngest segment was on the medium before that one was begun: there, pages suffice. In the
// youngest one each page says which batches were. Those beyond have to prove by their checksums that they are whole.
#include "core/engine/cold/recovery.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/engine/cold/pages.hpp"

namespace hbf::kv::cold {
namespace {

// A place of a segment that holds nothing, and says so.
struct Hole {
    uint64_t begin = 0, end = 0, sequence = 0;
};

class Recovery {
public:
    explicit Recovery(Store &store) : store_(store) {}

    Result<Recovered> run() {
        const auto order = store_.in_order();
        for (const uint32_t number : order) {
            const bool youngest = number == order.back();
            if (auto done = youngest ? read_youngest(number) : read_finished(number); !done)
                return tl::unexpected(done.error());
        }
        if (!order.empty()) {
            found_.last_segment = store_.segments[order.back()].sequence;
            found_.head = order.back();
        }
        found_.next_batch = std::max(seen_, found_.durable) + 1;
        return found_;
    }

private:
    Result<> read_finished(uint32_t number) {
        ScanFrom from = store_.scan_from(number);
        from.look_beyond = true;
        auto scanned = scan_segment(store_.calls, from, [&](const BatchPage &page) -> Result<> {
            store_.put_batch(number, page);
            return {};
        });
        if (!scanned) return leave_out(number, scanned.error());
        found_.durable = std::max(found_.durable, scanned->last);
        return finish(number, *scanned, {}, scanned->last, false);
    }

    Result<> read_youngest(uint32_t number) {
        ScanFrom from = store_.scan_from(number);
        from.look_beyond = true;
        auto scanned = scan_segment(store_.calls, from, [&](const BatchPage &page) -> Result<> {
            found_.durable = std::max(found_.durable, page.head.durable_through);
            return {};
        });
        if (!scanned) return leave_out(number, scanned.error());
        seen_ = std::max(seen_, scanned->last);
        const uint64_t proven = found_.durable;
        const Pages scratch(most_batch_bytes);
        std::vector<Hole> torn;
        uint64_t whole_end = first_batch, whole_last = 0;
        const auto again = scan_segment(store_.calls, from, [&](const BatchPage &page) -> Result<> {
            const BatchHead &head = page.head;
            const uint64_t end = head.place + page_size + head.pages * page_size;
            if (head.sequence > proven) {
                const auto whole = is_whole(store_.calls, from.fd, from.file, page, scratch.data());
                if (!whole || !*whole) {
                    torn.push_back({head.place, end, head.sequence});
                    return {};
                }
            }
            store_.put_batch(number, page);
            whole_end = end;
            whole_last = head.sequence;
            return {};
        });
        if (!again) return leave_out(number, again.error());
        store_.counters.torn_batches += torn.size();
        // Behind the last whole one the next batch will be written. Pages that were torn there go: they are older than
        // batches that will be finished.
        const Pages nothing(page_size);
        for (const Hole &hole : torn) {
            if (hole.begin < whole_end) continue;
            if (auto done = write_at(store_.calls, from.fd, nothing.data(), page_size, hole.begin, from.file); !done)
                return done;
        }
        std::erase_if(torn, [&](const Hole &hole) { return hole.begin >= whole_end; });
        std::erase_if(scanned->gaps, [&](const Gap &gap) { return gap.begin >= whole_end; });
        scanned->end = whole_end;
        scanned->last = whole_last;
        found_.durable = std::max(found_.durable, whole_last);
        return finish(number, *scanned, std::move(torn), proven, true);
    }

    // `finished`: batches up to this one were, before the crash.
    Result<> finish(uint32_t number, const Scanned &scanned, std::vector<Hole> holes, uint64_t finished, bool is_youngest) {
        Segment &segment = store_.segments[number];
        segment.end = scanned.end;
        segment.last = scanned.last;
        for (const Gap &gap : scanned.gaps) {
            // Of a finished batch nothing but damage can take the page; of another one the crash may have.
            ++(gap.next <= finished ? store_.counters.damaged_batches : store_.counters.torn_batches);
            holes.push_back({gap.begin, gap.end, gap.next - 1});
        }
        const Pages memory(page_size);
        for (const Hole &hole : holes) {
            BatchPage &page = memory.as<BatchPage>();
            page = BatchPage{};
            page.head.log = store_.folder.superblock().log;
            page.head.segment = segment.sequence;
            page.head.place = hole.begin;
            page.head.sequence = hole.sequence;
            page.head.pages = static_cast<uint32_t>((hole.end - hole.begin) / page_size - 1);
            seal(page);
            if (auto done = write_at(store_.calls, segment.fd.get(), memory.data(), page_size, hole.begin, segment.file);
                !done)
                return done;
        }
        if (holes.empty() && !is_youngest) return {};
        return sync_file(store_.calls, segment.fd.get(), segment.file);
    }

    // What was read of it before the error stays: each read verifies its bytes.
    Result<> leave_out(uint32_t number, const Error &error) {
        Segment &segment = store_.segments[number];
        segment.end = store_.folder.superblock().segment_bytes; // nothing is written there before it is used anew
        ++store_.counters.unreadable_segments;
        store_.notes.push_back(error.message + "; what follows there is not used");
        return {};
    }

    Store &store_;
    Recovered found_;
    uint64_t seen_ = 0;
};

} // namespace

Result<Recovered> recover(Store &store) {
    return Recovery(store).run();
}

} // namespace hbf::kv::cold
