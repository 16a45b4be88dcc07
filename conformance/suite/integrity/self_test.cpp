// SPDX-License-Identifier: Apache-2.0
// The case that the runner and hbf corruption run once per fault of self_test_faults() before they test in earnest: it must
// fail each time. Some milliseconds long: one pair of regions, every byte of the destination against a model after each
// copy.
#include <algorithm>
#include <cstring>
#include <vector>

#include "conformance/integrity/origin.hpp"
#include "conformance/integrity/tally.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/integrity/pairs.hpp"

namespace hbf::conformance {
namespace {

using integrity::Datum;
using integrity::Pattern;

constexpr uint64_t region_size = 192u << 10;

class TransferTest {
public:
    explicit TransferTest(Context &context)
        : context_(context), device_(context.device()), tier_(tier()), regions_(device_), access_(device_), queue_(device_),
          source_(regions_.make(tier_, region_size)), destination_(regions_.make(tier_, region_size)),
          random_(context.seed()) {
        give(source_bytes_, source_, next());
        give(model_, destination_, next());
    }

    // A copy of an odd range: judged at once, and again with the next one, when it must not have happened a second time.
    void copy_once() {
        give(source_bytes_, source_, next());
        const uint64_t size = random_.between(1, region_size / 2), from = random_.below(region_size - size + 1),
                       to = random_.below(region_size - size + 1);
        const uint64_t value =
            device_.must_submit(queue_, {copy_command(destination_.region, to, source_.region, from, size)});
        device_.must_complete(queue_, value);
        const auto progress = device_.poll(queue_);
        context_.check(progress.completed == value, "value {} was the last submitted; poll says that {} completed", value,
                       progress.completed);
        std::memcpy(model_.data() + to, source_bytes_.data() + from, size);
        look();
        overwrite(to, std::min<uint64_t>(size, 4096));
    }

    // Values of one queue that conflict: each must see those before it.
    void copies_in_order() {
        give(source_bytes_, source_, next());
        uint64_t last = 0;
        const uint32_t values = std::min<uint32_t>(device_.queue_info().max_depth, 6);
        for (uint32_t i = 0; i < values; ++i) {
            const uint64_t size = i % 2 == 0 ? region_size / 2 : 4096, from = random_.below(region_size - size + 1);
            const uint64_t to = random_.below(region_size / 4);
            last = device_.must_submit(queue_, {copy_command(destination_.region, to, source_.region, from, size)});
            std::memcpy(model_.data() + to, source_bytes_.data() + from, size);
        }
        device_.must_complete(queue_, last);
        look();
    }

    // The same range each time, with other data: what is left of the copy before is seen.
    void copy_again() {
        give(source_bytes_, source_, next());
        const uint64_t size = region_size - 4096 - 8;
        device_.must_run(queue_, {copy_command(destination_.region, 4096, source_.region, 0, size)});
        std::memcpy(model_.data() + 4096, source_bytes_.data(), size);
        look();
    }

    // There and back through what only commands reach.
    void by_storage(uint32_t storage) {
        constexpr uint64_t size = 64u << 10;
        const auto stored = regions_.make(storage, size);
        give(source_bytes_, source_, next());
        device_.must_run(queue_, {copy_command(stored.region, 0, source_.region, 0, size)});
        device_.must_run(queue_, {copy_command(destination_.region, 1, stored.region, 0, size)});
        std::memcpy(model_.data() + 1, source_bytes_.data(), size);
        look();
    }

    void errors_are_errors() {
        uint64_t value = 0;
        context_.check_status(
            device_.submit(queue_, {copy_command(destination_.region, region_size, source_.region, 0, 64)}, value),
            HBF_INVALID, "a copy beyond the end of its region");
        context_.check_status(device_.submit(queue_, {copy_command(destination_.region, 0, source_.region, 0, 0)}, value),
                              HBF_INVALID, "a copy of no bytes");
        const auto gone = device_.must_alloc(tier_, 4096);
        device_.must_free(gone.region);
        context_.check_status(device_.submit(queue_, {copy_command(destination_.region, 0, gone.region, 0, 64)}, value),
                              HBF_INVALID, "a copy from a region that was freed");
        look();
    }

private:
    uint32_t tier() const { return device_.cpu_tier(); }
    Datum next() {
        ++generation_;
        return {Pattern::address_hash, generation_ % 2, data_seed(context_), generation_};
    }
    void give(std::vector<std::byte> &bytes, const hbf_region_info &region, const Datum &datum) {
        bytes.resize(region_size);
        generate(datum, bytes.data(), region_size, 0);
        access_.write(region, 0, bytes);
    }
    void overwrite(uint64_t offset, uint64_t size) {
        generate(next(), model_.data() + offset, size, offset);
        access_.write(destination_, offset, std::span<const std::byte>(model_).subspan(offset, size));
    }
    void look() {
        const auto found = access_.read(destination_, 0, region_size);
        context_.count_check();
        const auto wrong = std::mismatch(found.begin(), found.end(), model_.begin());
        if (wrong.first == found.end()) return;
        Evidence evidence;
        evidence.tier = device_.tier(tier_).name;
        evidence.region = destination_.region;
        evidence.offset = static_cast<uint64_t>(wrong.first - found.begin());
        evidence.width = 1;
        evidence.expected = static_cast<uint64_t>(*wrong.second);
        evidence.actual = static_cast<uint64_t>(*wrong.first);
        for (size_t i = 0; i < found.size(); ++i) evidence.wrong_bytes += found[i] != model_[i];
        evidence.fault_class = fault::wrong_value;
        evidence.detail = fmt::format("{} bytes of the destination are not what the copies make of it, the first at {:#x}",
                                      evidence.wrong_bytes, evidence.offset);
        const auto reason = evidence.detail;
        fail(reason, std::move(evidence));
    }

    Context &context_;
    Instance &device_;
    uint32_t tier_;
    Regions regions_;
    ByteAccess access_;
    Queue queue_;
    hbf_region_info source_, destination_;
    Random random_;
    uint32_t generation_ = 0;
    std::vector<std::byte> source_bytes_, model_;
};

} // namespace

HBF_CASE("selftest.transfer",
         {.rules = {"HBF-DMA-2"},
          .kills = {"m07_complete_twice", "range_unchecked", "zero_copy_ok", "freed_handle_copies", "m02_drop_tail"},
          .needs = need::cpu_tier,
          .hidden = true}) {
    TransferTest test(context);
    test.errors_are_errors();
    for (int round = 0; round < 12; ++round) {
        test.copy_again();
        for (int i = 0; i < 2; ++i) test.copy_once();
        test.copies_in_order();
    }
    if (context.device().capabilities() & need::dma_only_tier) {
        const uint32_t storage = context.device().dma_only_tier();
        for (int i = 0; i < 4; ++i) test.by_storage(storage);
    }
}

} // namespace hbf::conformance
