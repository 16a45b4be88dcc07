// SPDX-License-Identifier: Apache-2.0
// Launches that no device may take, and those at the very limits, which it must.
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"
#include "conformance/suite/kernels/bad_launches.hpp"
#include "conformance/suite/kernels/copy_kernel.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 8192, size = 1024;

class Refusals {
public:
    Refusals(Context &context, const CopyKernel &copy, uint32_t tier)
        : context_(context), device_(context.device()), copy_(copy), name_(device_.tier(tier).name), buffers_(device_),
          access_(device_), from_(buffers_.make(tier, region_size)), to_(buffers_.make(tier, region_size)),
          source_(access_, from_, "the source in " + name_, name_),
          destination_(access_, to_, "the destination in " + name_, name_), queue_(device_) {
        source_.load(context.seed(), 1);
        destination_.load(context.seed(), 2);
    }

    // With a good copy before it, of which nothing may be left either.
    void refuse(const BadLaunch &bad, bool after_a_copy) {
        Launch launch = copy_.launch(to_.region, 0, from_.region, 0, size);
        const uint64_t count = launch.buffers().size(), bytes = launch.arguments().size();
        launch.buffers().push_back(launch.buffers().back()); // there to be read where the count is one too many
        launch.arguments().push_back({});
        hbf_command command = launch.command();
        command.u.launch.buffer_count = count;
        command.u.launch.arguments_size = bytes;
        bad.spoil(launch.buffers()[count - 1], command.u.launch);
        std::vector<hbf_command> commands = {command};
        if (after_a_copy) commands.insert(commands.begin(), copy_command(to_.region, 2048, from_.region, 4096, size));
        uint64_t value = 0;
        const Call call = device_.submit(queue_, commands, value);
        context_.check_status(call, HBF_INVALID, fmt::format("a launch with {}, in {}", bad.what, name_));
        context_.check(value == 0, "a launch with {} is refused, and its value set to {}", bad.what, value);
    }

    // What an engine had begun would have ended by the completion of a later value.
    void expect_nothing_left(std::string_view when) {
        const uint64_t value = device_.must_submit(queue_, {});
        check_in(context_, value == last_ + 1, fault::contract, name_, "{} the next value is {}, not {}", when, value,
                 last_ + 1);
        device_.must_complete(queue_, last_ = value);
        destination_.verify(context_, when);
        source_.verify(context_, when);
    }

    void take_at_the_limits() {
        const uint64_t end = region_size - size;
        const hbf_region to = to_.region, from = from_.region;
        take(copy_.launch(to, end, from, end, size), end, end, "a launch whose buffers end with their regions");
        take(copy_.launch(to, 0, from, 8, size).shape(1, copy_.info().max_group_size), 0, 8,
             "a launch of the largest group");
        take(copy_.launch(to, 8, from, 64, size).shape(1, 1), 8, 64, "a launch of one work-item");
        take(copy_.launch(to, 4096, from, 0, size).shape({2, 3, 2}, {1, 1, 1}), 4096, 0, "a launch of 2 x 3 x 2 groups");
    }

private:
    void take(const Launch &launch, uint64_t to, uint64_t from, std::string_view what) {
        static_cast<void>(destination_.copy_from(to, source_, from, size));
        must_run_first(device_, queue_, {launch.command()});
        destination_.verify(context_, what);
        destination_.forget_writes();
    }

    Context &context_;
    Instance &device_;
    const CopyKernel &copy_;
    const std::string name_;
    Buffers buffers_;
    ByteAccess access_;
    const hbf_region_info from_, to_;
    Model source_, destination_;
    const Queue queue_;
    uint64_t last_ = 0; // value
};

HBF_CASE("kernels.launch.bad_refused", {.rules = {"HBF-KRN-2", "HBF-DMA-1", "HBF-ABI-13"},
                                        .kills = {"launch_beyond_ok",
                                                  "launch_wraps_ok",
                                                  "launch_unaligned_ok",
                                                  "launch_empty_ok",
                                                  "launch_no_access_ok",
                                                  "launch_unknown_access_ok",
                                                  "launch_stale_ok",
                                                  "launch_not_reached_ok",
                                                  "launch_buffer_count_ok",
                                                  "launch_arguments_size_ok",
                                                  "launch_null_ok",
                                                  "launch_unknown_kernel_ok",
                                                  "launch_no_groups_ok",
                                                  "launch_no_items_ok",
                                                  "launch_group_too_large_ok",
                                                  "launch_last_byte_refused",
                                                  "launch_largest_refused",
                                                  "launch_one_item_refused",
                                                  "refused_batch_half_run",
                                                  "refused_batch_spends_value",
                                                  "refused_batch_value_set",
                                                  "refused_as_internal",
                                                  "launch_nothing"},
                                        .needs = need::launch | need::cpu_tier,
                                        .limit_s = 60}) {
    Instance &device = context.device();
    const CopyKernel copy(context);
    for (const uint32_t tier : kernel_tiers(device)) {
        Refusals refusals(context, copy, tier);
        const hbf_region_info gone = device.must_alloc(tier, region_size);
        device.must_free(gone.region);
        std::vector<BadLaunch> all = bad_launches(copy.info(), region_size, gone.region);
        Regions others(device);
        for (const uint32_t other : device.dma_tiers()) {
            if (device.tier(other).access & HBF_ACCESS_DEVICE) continue;
            const hbf_region region = others.make(other, region_size).region;
            all.push_back({fmt::format("a region of {}, which no kernel reaches", device.tier(other).name),
                           [region](hbf_kernel_buffer &buffer, hbf_launch &) { buffer.region = region; }});
        }
        for (const BadLaunch &bad : all)
            for (const bool after_a_copy : {false, true}) refusals.refuse(bad, after_a_copy);
        refusals.expect_nothing_left("after refused launches");
        refusals.take_at_the_limits();
    }
}

} // namespace
} // namespace hbf::conformance
