// SPDX-License-Identifier: Apache-2.0
// Probe: quick, leaves nothing behind, and says plainly when there is no device.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "conformance/suite/allocation.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"
#include "conformance/suite/lifecycle/workout.hpp"
#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

// The loader's own limit for a probe (plugins.probe_timeout_s): "within seconds".
constexpr double limit_s = 10;

// With what each vendor's driver takes for "show no device".
void hide_devices() {
    for (const char *name :
         {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK",
          "ASCEND_RT_VISIBLE_DEVICES", "MLU_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES"})
        setenv(name, "", 1);
}

// A folder of its own, gone with the object.
class EmptyRoot {
public:
    EmptyRoot() {
        std::string pattern = (std::filesystem::temp_directory_path() / "hbf-no-devices-XXXXXX").string();
        if (!mkdtemp(pattern.data())) throw std::system_error(errno, std::generic_category(), pattern);
        path_ = pattern;
    }
    ~EmptyRoot() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    EmptyRoot(const EmptyRoot &) = delete;
    EmptyRoot &operator=(const EmptyRoot &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

// In the child. "" or what is wrong with the answer of a machine without devices.
std::string answer_without_devices(Subject &subject, const std::string &root) {
    hide_devices();
    std::array<hbf_device_info, 16> devices{};
    for (hbf_device_info &device : devices) device.struct_size = sizeof device;
    hbf_probe_in in{};
    in.struct_size = sizeof in;
    in.services = &subject.services();
    in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    in.options = subject.abi_options().data();
    in.system_root = {root.data(), root.size()};
    hbf_probe_out out{};
    out.struct_size = sizeof out;
    out.devices = devices.data();
    out.device_capacity = devices.size();
    out.device_stride = sizeof devices[0];
    ErrorBuffer error;
    const Call call = error.call(subject.plugin().probe(&in, &out, error));
    if (call.ok()) {
        if (out.device_count == 0) return "HBF_OK without a device, where HBF_UNAVAILABLE and the reason are due";
        for (uint32_t i = 0; i < out.device_count && i < devices.size(); ++i)
            if (devices[i].pci_address[0])
                return fmt::format("device {} at {} on a machine without any PCI device", devices[i].id,
                                   devices[i].pci_address);
        return {}; // needs no device of its own: host memory, a simulation
    }
    if (call.status != HBF_UNAVAILABLE && call.status != HBF_UNSUPPORTED && call.status != HBF_PERMISSION)
        return fmt::format("{} where HBF_UNAVAILABLE is due", to_string(call));
    if (call.message.find(' ') == std::string::npos) return fmt::format("{} without a reason", status_name(call.status));
    if (out.device_count != 0) return "no device, but device_count is not 0";
    return {};
}

HBF_CASE("lifecycle.probe.no_device_is_clean",
         {.rules = {"HBF-LIFE-4"},
          .kills = {"m37_crash_without_device", "no_device_is_ok", "no_device_invented", "no_device_counted",
                    "no_device_no_reason", "no_device_internal"}}) {
    const EmptyRoot root;
    Subject &subject = context.subject();
    const std::string wrong = run_forked([&] { return answer_without_devices(subject, root.path()); }, limit_s).trouble();
    context.check(wrong.empty(), "probe on a machine without devices: {}", wrong);
}

HBF_CASE("lifecycle.probe.bounded_time",
         {.rules = {"HBF-LIFE-5"}, .kills = {"m39_probe_hangs",      "probe_crashes",        "probe_fails",
                                             "cnrt_garbage_version", "cnrt_init_crashes",    "cnrt_init_denied",
                                             "cnrt_init_fails",      "cnrt_init_hangs",      "cnrt_is_a_stub",
                                             "cnrt_too_old",         "cnrt_without_devices", "cuda_garbage_version",
                                             "cuda_init_crashes",    "cuda_init_denied",     "cuda_init_fails",
                                             "cuda_init_hangs",      "cuda_is_a_stub",       "cuda_lacks_a_function",
                                             "cuda_too_old",         "cuda_without_devices", "hip_garbage_version",
                                             "hip_init_crashes",     "hip_init_denied",      "hip_init_fails",
                                             "hip_init_hangs",       "hip_is_a_stub",        "hip_too_old",
                                             "hip_without_devices",  "ze_garbage_version",   "ze_init_crashes",
                                             "ze_init_denied",       "ze_init_fails",        "ze_is_a_stub",
                                             "ze_too_old",           "ze_without_devices"}}) {
    Subject &subject = context.subject();
    const Forked child = run_forked(
        [&] {
            const Call call = subject.probe().first;
            return call.ok() ? std::string() : to_string(call);
        },
        limit_s);
    context.check(child.trouble().empty(), "probe: {}", child.trouble());
    context.metric({"lifecycle.probe_time", "ns", child.seconds * 1e9});
}

// In the child, which has made no instance.
std::string left_by_probe(Context &context) {
    Subject &subject = context.subject();
    const Visible before = look();
    subject.must_probe();
    // What came with the first one and stays is a driver's library or a table, not a leak; a thread or descriptor is not
    // fine.
    const std::string change = first_change(before, look());
    if (!change.empty()) return "probe left something behind: " + change;
    AllocationWatch watch;
    constexpr int rounds = 8;
    for (int i = 0; i < rounds; ++i) subject.must_probe();
    if (watch.live() >= rounds) return fmt::format("{} probes left {} blocks of memory behind", rounds, watch.live());
    // A context that probe had opened would not survive this.
    const Forked after = run_forked(
        [&] {
            const auto device = subject.must_create();
            workout(*device, context.seed(), "an instance");
            return std::string();
        },
        limit_s);
    return after.trouble().empty() ? "" : "a process forked after a probe opened the device: " + after.trouble();
}

HBF_CASE("lifecycle.probe.creates_no_context",
         {.rules = {"HBF-LIFE-5"},
          .kills = {"m47_probe_opens_context", "probe_leaks", "probe_leaves_thread", "probe_context_of_process"}}) {
    const std::string wrong = run_forked([&] { return left_by_probe(context); }, 2 * limit_s).trouble();
    context.check(wrong.empty(), "{}", wrong);
}

} // namespace
} // namespace hbf::conformance
