// SPDX-License-Identifier: Apache-2.0
// Writes that others see half done, or that undo what others did beside them.
#include <chrono>
#include <thread>

#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {
namespace {

constexpr Parameter pause{.key = "us", .preset = "20", .line = "microseconds that it lasts"};

void take_time(uint64_t us) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

// The high half of every word comes late. What a reader sees for a while is the new low half beside the old high one.
class Torn final : public DataFault {
public:
    using DataFault::DataFault;

    bool eligible(const hbf_command &command) override {
        return DataFault::eligible(command) && words_of(destination(command)).size > 0;
    }
    void look_before(Hit &hit) override { save(hit, words_of(hit.written)); }
    void change(const Hit &hit) override {
        if (hit.before.empty()) return;
        std::vector<std::byte> whole, torn;
        edit(hit.saved, [&](uint64_t, std::span<std::byte> bytes) {
            whole.assign(bytes.begin(), bytes.end());
            for (size_t i = 0; i < bytes.size(); ++i)
                if (i % 8 >= 4) bytes[i] = hit.before[i];
            return true;
        });
        if (settings().text("stays") == "yes") return;
        take_time(settings().number("us"));
        device().touch().write(hit.saved.region, hit.saved.offset, whole);
    }

private:
    // The first of the whole words in a range, few enough to be torn at once.
    static Span words_of(const Span &range) {
        const uint64_t first = (range.offset + 7) / 8 * 8, end = (range.offset + range.size) / 8 * 8;
        return {range.region, first, end > first ? std::min<uint64_t>(end - first, 65536) : 0};
    }
};
HBF_FAULT(Torn, "torn", "8-byte words arrive in two halves, and a reader sees one new beside one old", parameter::tier,
          pause,
          {.key = "stays",
           .kind = Parameter::word,
           .preset = "no",
           .line = "the second half never comes",
           .choices = {"no", "yes"}});

// As an agent that writes whole granules back: the neighbours are those of before.
class NeighbourLost final : public DataFault {
public:
    using DataFault::DataFault;

    void look_before(Hit &hit) override {
        const uint64_t granule = std::max<uint64_t>(settings().number("bytes"), 1), end = region_size(hit.written.region);
        const uint64_t first = hit.written.offset / granule * granule;
        const uint64_t last = std::min(end, (hit.written.offset + hit.written.size + granule - 1) / granule * granule);
        if (end == 0 || last - first > (1 << 20)) return;
        save(hit, {hit.written.region, first, last - first});
        take_time(settings().number("us"));
    }
    void change(const Hit &hit) override {
        if (hit.before.empty()) return;
        const uint64_t head = hit.written.offset - hit.saved.offset, tail = head + hit.written.size;
        const std::span<const std::byte> before(hit.before);
        if (head > 0) device().touch().write(hit.saved.region, hit.saved.offset, before.first(head));
        if (tail < before.size()) device().touch().write(hit.saved.region, hit.saved.offset + tail, before.subspan(tail));
    }
};
HBF_FAULT(NeighbourLost, "neighbour-lost", "a copy or fill writes its whole granule back: stores beside it are undone",
          parameter::tier, pause, {.key = "bytes", .preset = "64", .line = "granule"});

} // namespace
} // namespace hbf::inject
