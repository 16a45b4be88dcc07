// SPDX-License-Identifier: Apache-2.0
// ROCm SMI speaks of the machine that the HIP runtime of the same process works on.
#include <cstring>

#include "conformance/emulators/amd/tests/on_machine.hpp"

namespace hbf::emulated::test {
namespace {

using namespace smi;

class OnEither : public testing::TestWithParam<Files> {
protected:
    static void run(const Settings &settings, const std::function<void(const Smi &)> &body) {
        const int status = in_process(settings, [&] { body(Smi(GetParam().smi)); });
        EXPECT_EQ(status, 0);
    }
};
INSTANTIATE_TEST_SUITE_P(Rocm, OnEither, testing::Values(rocm6, rocm5), release_name);

TEST_P(OnEither, NothingBeforeItIsStartedOrAfterItIsStopped) {
    run({}, [](const Smi &smi) {
        uint32_t count = 0;
        EXPECT_EQ(smi.rsmi_num_monitor_devices(&count), INIT_ERROR);
        EXPECT_EQ(smi.rsmi_init(0), SUCCESS);
        EXPECT_EQ(smi.rsmi_init(0), SUCCESS);
        EXPECT_EQ(smi.rsmi_shut_down(), SUCCESS);
        EXPECT_EQ(smi.rsmi_num_monitor_devices(&count), SUCCESS) << "one user is left";
        EXPECT_EQ(count, 2u);
        EXPECT_EQ(smi.rsmi_shut_down(), SUCCESS);
        EXPECT_EQ(smi.rsmi_num_monitor_devices(&count), INIT_ERROR);
        EXPECT_EQ(smi.rsmi_shut_down(), INIT_ERROR);
    });
    run(faults("init-permission"), [](const Smi &smi) { EXPECT_EQ(smi.rsmi_init(0), PERMISSION); });
}

TEST_P(OnEither, DevicesByAddressWhateverHipShows) {
    const bool newer = GetParam().major == 6;
    run({{"HIP_VISIBLE_DEVICES", "1"}}, [&](const Smi &smi) {
        ASSERT_EQ(smi.rsmi_init(0), SUCCESS);
        uint64_t id = 0;
        EXPECT_EQ(smi.rsmi_dev_pci_id_get(1, &id), SUCCESS);
        EXPECT_EQ(id, 0x8500u);
        EXPECT_EQ(smi.rsmi_dev_pci_id_get(2, &id), INVALID_ARGS);
        EXPECT_EQ(smi.rsmi_dev_pci_id_get(1, nullptr), INVALID_ARGS);
        char name[64];
        EXPECT_EQ(smi.rsmi_dev_name_get(0, name, sizeof name), SUCCESS);
        EXPECT_STREQ(name, "Test card (emulated)");
        EXPECT_EQ(smi.rsmi_dev_name_get(0, name, 5), INSUFFICIENT_SIZE);
        EXPECT_STREQ(name, "Test");
        uint32_t node = 9;
        EXPECT_EQ(smi.rsmi_topo_get_numa_node_number(1, &node), SUCCESS);
        EXPECT_EQ(node, 1u);
        uint64_t hops = 0;
        int type = 0;
        EXPECT_EQ(smi.rsmi_topo_get_link_type(0, 1, &hops, &type), SUCCESS);
        EXPECT_EQ(type, LINK_XGMI);
        rsmi_pcie_bandwidth_t pcie{};
        EXPECT_EQ(smi.rsmi_dev_pci_bandwidth_get(0, &pcie), SUCCESS);
        EXPECT_EQ(pcie.transfer_rate.frequency[pcie.transfer_rate.current], 32'000'000'000u);
        EXPECT_EQ(pcie.lanes[pcie.transfer_rate.current], 16u);
        EXPECT_EQ(smi.rsmi_dev_memory_partition_get != nullptr, newer) << "5.2 has none";
        if (!newer) return;
        EXPECT_EQ(smi.rsmi_dev_memory_partition_get(0, name, sizeof name), SUCCESS);
        EXPECT_STREQ(name, "NPS1");
    });
}

TEST_P(OnEither, CountersAreTheDevicesOwn) {
    const Files files = GetParam();
    EXPECT_EQ(in_process(faults("ecc-corrected"),
                         [&] {
                             const Smi smi(files.smi);
                             const Hip hip(files.hip);
                             ASSERT_EQ(smi.rsmi_init(0), SUCCESS);
                             rsmi_error_count_t before{}, after{};
                             ASSERT_EQ(smi.rsmi_dev_ecc_count_get(0, UMC, &before), SUCCESS);
                             void *memory = nullptr;
                             char bytes[256];
                             ASSERT_EQ(hip.hipMalloc(&memory, sizeof bytes), hip::hipSuccess);
                             ASSERT_EQ(hip.hipMemcpy(bytes, memory, sizeof bytes, hip::hipMemcpyDefault), hip::hipSuccess);
                             ASSERT_EQ(smi.rsmi_dev_ecc_count_get(0, UMC, &after), SUCCESS);
                             EXPECT_GT(after.correctable, before.correctable);
                             EXPECT_EQ(after.uncorrectable, before.uncorrectable);
                             uint64_t used = 0;
                             ASSERT_EQ(smi.rsmi_dev_memory_usage_get(0, VRAM, &used), SUCCESS);
                             EXPECT_GE(used, sizeof bytes);
                         }),
              0);
    run({}, [](const Smi &smi) {
        ASSERT_EQ(smi.rsmi_init(0), SUCCESS);
        int64_t millidegrees = 0;
        EXPECT_EQ(smi.rsmi_dev_temp_metric_get(0, JUNCTION, 0, &millidegrees), SUCCESS);
        EXPECT_EQ(millidegrees, 44'000);
        EXPECT_EQ(smi.rsmi_dev_temp_metric_get(0, 6, 0, &millidegrees), NOT_SUPPORTED);
        rsmi_error_count_t count{};
        EXPECT_EQ(smi.rsmi_dev_ecc_count_get(0, 3, &count), INVALID_ARGS) << "two blocks at once";
        int status = -1;
        EXPECT_EQ(smi.rsmi_dev_xgmi_error_status(0, &status), SUCCESS);
        EXPECT_EQ(status, XGMI_NO_ERRORS);
        const auto fan =
            reinterpret_cast<rsmi_status_t (*)(uint32_t, uint32_t, int64_t *)>(::dlsym(smi.handle, "rsmi_dev_fan_rpms_get"));
        ASSERT_NE(fan, nullptr);
        EXPECT_EQ(fan(0, 0, &millidegrees), NOT_SUPPORTED);
    });
}

} // namespace
} // namespace hbf::emulated::test
