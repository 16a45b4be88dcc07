// SPDX-License-Identifier: Apache-2.0
// Instances, their tables, regions and queues through the C tables.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

using Lines = std::vector<std::string>;

hbf_alloc_desc alloc_desc(uint64_t size = 64) {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.size = size;
    return desc;
}

hbf_command fill() { // stays in flight in the test plugin's queue
    hbf_command command{};
    command.kind = HBF_COMMAND_FILL;
    return command;
}

uint64_t submit(const Device &device, hbf_queue *queue, const std::vector<hbf_command> &commands) {
    const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, commands.data(), commands.size()};
    uint64_t value = 0;
    EXPECT_EQ(device.queues().submit(queue, &batch, &value, nullptr), HBF_OK);
    return value;
}

TEST(Extensions, UnknownIdsAreNull) {
    Device device;
    const auto ask = [&](const std::string &id) { return plugin().get_extension(device.instance, text(id)); };
    EXPECT_NE(ask("hbf.tier/1"), nullptr);
    for (const char *id : {"", "hbf.tier", "hbf.tier/2", "hbf.tier/1 ", "HBF.TIER/1", "hbf.tier/11", "vendor.magic/1"})
        EXPECT_EQ(ask(id), nullptr) << id;
    EXPECT_EQ(plugin().get_extension(device.instance, hbf_string{nullptr, 0}), nullptr);
    EXPECT_EQ(plugin().get_extension(device.instance, hbf_string{nullptr, 10}), nullptr);
    EXPECT_EQ(plugin().get_extension(nullptr, text("hbf.tier/1")), nullptr);
}

TEST(Extensions, IdIsNotNulTerminated) {
    Device device;
    const std::string longer = "hbf.tier/1234";
    EXPECT_NE(plugin().get_extension(device.instance, hbf_string{longer.data(), 10}), nullptr);
}

TEST(Extensions, AbsentOnesAreNullAndCancelToo) {
    Device bare(OptionList{{"bare", "1"}});
    EXPECT_EQ(bare.extension<void>(HBF_EXT_COHERENCE), nullptr);
    EXPECT_EQ(bare.extension<void>(HBF_EXT_KERNELS), nullptr);
    EXPECT_EQ(bare.extension<void>(HBF_EXT_HEALTH), nullptr);
    EXPECT_EQ(bare.queues().cancel, nullptr);
    Device full;
    EXPECT_NE(full.queues().cancel, nullptr);
}

TEST(Extensions, TablesLiveInTheirInstanceAndStay) {
    Device first, second;
    for (const char *id : {HBF_EXT_TIER, HBF_EXT_QUEUE, HBF_EXT_COHERENCE, HBF_EXT_KERNELS, HBF_EXT_HEALTH}) {
        const void *table = first.extension<void>(id);
        ASSERT_NE(table, nullptr) << id;
        EXPECT_EQ(first.extension<void>(id), table) << id;
        EXPECT_NE(second.extension<void>(id), table) << id;
    }
    EXPECT_EQ(first.tier().struct_size, HBF_TIER_EXT_MIN_SIZE + fields_ahead());
    EXPECT_EQ(first.tier().tier_count, 2u);
    EXPECT_EQ(first.tier().export_region, nullptr);
    EXPECT_EQ(first.tier().import_region, nullptr);
}

TEST(Instance, EmptyIdOpensTheFirstDevice) {
    Device device({}, "");
    ASSERT_EQ(device.status, HBF_OK) << device.error.message();
    EXPECT_EQ(device.log, Lines{"instance begins on test0"});
}

TEST(Instance, NullsAreRefusedEverywhere) {
    Device device;
    const auto &tier = device.tier();
    const auto &queues = device.queues();
    Error error;
    hbf_region_info region{};
    region.struct_size = sizeof region;
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    hbf_queue_info queue_info{};
    queue_info.struct_size = sizeof queue_info;
    const hbf_alloc_desc desc = alloc_desc();
    const hbf_queue_desc queue_desc{sizeof queue_desc, 0, 0, 0};
    const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, nullptr, 0};
    hbf_queue *queue = nullptr;
    uint64_t value = 0;
    hbf_instance *instance = device.instance;
    EXPECT_EQ(plugin().create(nullptr, &instance, error), HBF_INVALID);
    EXPECT_EQ(instance, nullptr);
    EXPECT_EQ(plugin().create(nullptr, nullptr, error), HBF_INVALID);
    EXPECT_EQ(tier.describe(nullptr, 0, &info, error), HBF_INVALID);
    EXPECT_EQ(tier.alloc(nullptr, &desc, &region, error), HBF_INVALID);
    EXPECT_EQ(tier.free(nullptr, 1, error), HBF_INVALID);
    EXPECT_EQ(tier.free(device.instance, 0, error), HBF_INVALID);
    EXPECT_EQ(tier.register_host(device.instance, nullptr, 64, &region, error), HBF_INVALID);
    EXPECT_EQ(tier.register_host(device.instance, &info, 0, &region, error), HBF_INVALID);
    EXPECT_EQ(tier.register_host(device.instance, &info, UINT64_MAX, &region, error), HBF_INVALID) << "wraps around";
    EXPECT_EQ(queues.info(nullptr, &queue_info, error), HBF_INVALID);
    EXPECT_EQ(queues.create(nullptr, &queue_desc, &queue, error), HBF_INVALID);
    EXPECT_EQ(queues.create(device.instance, &queue_desc, nullptr, error), HBF_INVALID);
    EXPECT_EQ(queues.submit(nullptr, &batch, &value, error), HBF_INVALID);
    EXPECT_EQ(queues.submit(nullptr, &batch, nullptr, error), HBF_INVALID);
    EXPECT_EQ(queues.wait(nullptr, 1, 0, error), HBF_INVALID);
    EXPECT_EQ(queues.cancel(nullptr, 1, error), HBF_INVALID);
    EXPECT_EQ(queues.failure(nullptr, error), HBF_INVALID);
    EXPECT_EQ(queues.destroy(nullptr, error), HBF_OK);
    plugin().destroy(nullptr);
}

TEST(Tier, RefusesWhatNoTierCanDo) {
    Device device;
    hbf_region_info out{};
    out.struct_size = sizeof out;
    const auto alloc = [&](auto &&change) {
        hbf_alloc_desc desc = alloc_desc();
        change(desc);
        Error error;
        const hbf_status status = device.tier().alloc(device.instance, &desc, &out, error);
        if (status != HBF_OK) {
            EXPECT_NE(error.message(), "untouched");
            EXPECT_EQ(out.region, 0u);
        }
        return status;
    };
    EXPECT_EQ(alloc([](auto &) {}), HBF_OK);
    EXPECT_EQ(alloc([](auto &d) { d.size = 0; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.tier = 2; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.tier = UINT32_MAX; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.alignment = 24; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.alignment = 4096; }), HBF_OK);
    EXPECT_EQ(alloc([](auto &d) { d.pages = 5; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.flags = 2; }), HBF_INVALID);
    EXPECT_EQ(alloc([](auto &d) { d.flags = HBF_ALLOC_OPEN_EXISTING; }), HBF_INVALID) << "no name";
    const std::string longest(64, 'a'), too_long(65, 'a'), with_nul("a\0b", 3);
    for (const std::string &name : {std::string("kv-block_0.bin"), longest, std::string("a..b")})
        EXPECT_EQ(alloc([&](auto &d) { d.name = text(name); }), HBF_OK) << name;
    for (const std::string &name : {std::string("."), std::string(".."), std::string("../x"), std::string("a/b"),
                                    std::string("a b"), std::string("\xc3\xa4"), too_long, with_nul})
        EXPECT_EQ(alloc([&](auto &d) { d.name = text(name); }), HBF_INVALID) << name;
    EXPECT_EQ(alloc([](auto &d) { d.name = {nullptr, 4}; }), HBF_INVALID);

    hbf_tier_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(device.tier().describe(device.instance, 2, &info, nullptr), HBF_INVALID);
}

TEST(Tier, StaleHandleIsInvalid) {
    Device device;
    const hbf_alloc_desc desc = alloc_desc();
    hbf_region_info out{};
    out.struct_size = sizeof out;
    ASSERT_EQ(device.tier().alloc(device.instance, &desc, &out, nullptr), HBF_OK);
    EXPECT_EQ(device.tier().free(device.instance, out.region, nullptr), HBF_OK);
    Error error;
    EXPECT_EQ(device.tier().free(device.instance, out.region, error), HBF_INVALID);
    EXPECT_EQ(error.raw.region, out.region);
}

TEST(Queues, AreCountedAndAPlaceComesBack) {
    Device device;
    hbf_queue *queues[] = {device.queue(), device.queue(), device.queue()};
    for (hbf_queue *queue : queues) ASSERT_NE(queue, nullptr);
    const hbf_queue_desc desc{sizeof desc, 0, 0, 0};
    hbf_queue *one_more = queues[0];
    Error error;
    EXPECT_EQ(device.queues().create(device.instance, &desc, &one_more, error), HBF_EXHAUSTED);
    EXPECT_EQ(one_more, nullptr);
    EXPECT_EQ(device.queues().destroy(queues[1], error), HBF_OK); // from the middle of the list
    EXPECT_NE(device.queue(), nullptr);
    EXPECT_EQ(device.queue(), nullptr);
}

TEST(Queues, DescriptionIsCheckedAgainstTheLimits) {
    Device device;
    hbf_queue *queue = nullptr;
    const auto create = [&](hbf_queue_desc desc) { return device.queues().create(device.instance, &desc, &queue, nullptr); };
    EXPECT_EQ(create({sizeof(hbf_queue_desc), 9, 0, 0}), HBF_INVALID);
    EXPECT_EQ(create({sizeof(hbf_queue_desc), 0, 5, 0}), HBF_INVALID);
    EXPECT_EQ(create({sizeof(hbf_queue_desc), 0, 0, 1}), HBF_INVALID);
    EXPECT_EQ(create({sizeof(hbf_queue_desc), 8, 4, 0}), HBF_OK);
}

TEST(Queues, BatchIsCheckedBeforeThePluginSeesIt) {
    Device device;
    hbf_queue *queue = device.queue();
    std::vector<hbf_command> commands(5);
    const auto submit_raw = [&](hbf_batch batch) {
        uint64_t value = 99;
        Error error;
        const hbf_status status = device.queues().submit(queue, &batch, &value, error);
        EXPECT_EQ(value == 0, status != HBF_OK);
        return status;
    };
    EXPECT_EQ(submit_raw({24, HBF_COMMAND_SIZE, commands.data(), 4}), HBF_OK);
    EXPECT_EQ(submit_raw({24, HBF_COMMAND_SIZE, commands.data(), 5}), HBF_INVALID) << "more than max_commands";
    EXPECT_EQ(submit_raw({24, HBF_COMMAND_SIZE, nullptr, 1}), HBF_INVALID);
    EXPECT_EQ(submit_raw({24, HBF_COMMAND_SIZE - 8, commands.data(), 1}), HBF_INVALID);
    EXPECT_EQ(submit_raw({24, HBF_COMMAND_SIZE + 4, commands.data(), 1}), HBF_INVALID);
    EXPECT_EQ(submit_raw({24, 0, nullptr, 0}), HBF_OK) << "nothing to walk";
}

TEST(Queues, CommandsAreWalkedByTheHostsStride) {
    Device device;
    struct Wide {
        hbf_command command;
        uint64_t later[4];
    };
    std::vector<Wide> commands(2); // the second makes the value stay in flight; a walk by 96 would miss it
    for (Wide &wide : commands) wide.command = {}, wide.command.kind = HBF_COMMAND_COPY;
    commands[1].command = fill();
    hbf_queue *queue = device.queue();
    const hbf_batch batch{sizeof batch, sizeof(Wide), &commands[0].command, 2};
    uint64_t value = 0;
    ASSERT_EQ(device.queues().submit(queue, &batch, &value, nullptr), HBF_OK);
    EXPECT_EQ(device.queues().wait(queue, value, 0, nullptr), HBF_TIMEOUT);
    EXPECT_EQ(device.queues().wait(queue, value, UINT64_MAX, nullptr), HBF_OK);
}

TEST(Queues, ValuesNotReturnedYetAreInvalid) {
    Device device;
    hbf_queue *queue = device.queue();
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
        EXPECT_EQ(device.queues().wait(queue, value, 0, nullptr), HBF_INVALID) << value;
        EXPECT_EQ(device.queues().cancel(queue, value, nullptr), HBF_INVALID) << value;
    }
    EXPECT_EQ(submit(device, queue, {}), 1u);
    EXPECT_EQ(device.queues().wait(queue, 1, 0, nullptr), HBF_OK);
    EXPECT_EQ(device.queues().wait(queue, 2, 0, nullptr), HBF_INVALID);
}

TEST(Queues, DestroyIsBusyWhileValuesAreInFlight) {
    Device device;
    hbf_queue *queue = device.queue();
    const uint64_t value = submit(device, queue, {fill()});
    EXPECT_EQ(device.queues().destroy(queue, nullptr), HBF_BUSY);
    Error error;
    EXPECT_EQ(device.queues().wait(queue, value, 0, error), HBF_TIMEOUT);
    EXPECT_NE(error.message(), "untouched");
    EXPECT_EQ(device.queues().wait(queue, value, 1, error), HBF_OK);
    EXPECT_EQ(device.queues().destroy(queue, nullptr), HBF_OK);
}

TEST(Queues, CancelSaysWhetherItWasInTime) {
    Device device;
    hbf_queue *queue = device.queue();
    const uint64_t value = submit(device, queue, {fill()});
    EXPECT_EQ(device.queues().cancel(queue, value, nullptr), HBF_OK);
    EXPECT_EQ(device.queues().wait(queue, value, 1, nullptr), HBF_OK);
    EXPECT_EQ(device.queues().cancel(queue, value, nullptr), HBF_BUSY);
}

TEST(Queues, FailureIsToldByPollAndExplained) {
    Device device;
    hbf_queue *queue = device.queue();
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    Error error;
    EXPECT_EQ(device.queues().failure(queue, error), HBF_INVALID);
    hbf_command launch{};
    launch.kind = HBF_COMMAND_LAUNCH;
    submit(device, queue, {launch});
    EXPECT_EQ(device.queues().poll(queue, &progress), HBF_OK);
    EXPECT_EQ(progress.completed, 1u);
    EXPECT_EQ(progress.failed, 1u);
    EXPECT_EQ(progress.status, HBF_DATA_LOSS);
    EXPECT_EQ(device.queues().failure(queue, error), HBF_OK);
    EXPECT_EQ(error.message(), "the launch failed");
    EXPECT_EQ(error.raw.region, 9u);
    EXPECT_EQ(error.raw.offset, 512u);
    EXPECT_EQ(device.queues().failure(queue, nullptr), HBF_OK);
}

TEST(Instance, DestroyWaitsThenEndsQueuesThenTheInstance) {
    Device device;
    hbf_queue *busy = device.queue();
    ASSERT_NE(device.queue(), nullptr);
    submit(device, busy, {fill()});
    device.log.clear();
    device.destroy();
    EXPECT_EQ(device.log, (Lines{"queue waits", "queue ends", "queue ends", "instance ends"}));
}

TEST(Instance, DestroyWaitsAsLongAsSomethingGetsDone) {
    Device device(OptionList{{"hangs", "3"}});
    hbf_queue *busy = device.queue();
    for (int i = 0; i < 3; ++i) submit(device, busy, {fill()});
    device.log.clear();
    device.destroy();
    EXPECT_EQ(device.log, (Lines{"queue waits", "queue waits", "queue waits", "queue ends", "instance ends"}));
}

// The device may yet write to the memory of what it has begun: nothing ends, and who reads the log knows.
TEST(Instance, DestroyGivesUpADeviceThatHangsAndSaysSo) {
    Device device(OptionList{{"hangs", "1"}});
    hbf_queue *busy = device.queue();
    ASSERT_NE(device.queue(), nullptr);
    for (int i = 0; i < 3; ++i) submit(device, busy, {fill()});
    device.log.clear();
    device.destroy();
    ASSERT_EQ(device.log.size(), 3u);
    EXPECT_EQ(device.log[0], "queue waits");
    EXPECT_EQ(device.log[1], "queue waits");
    EXPECT_NE(device.log[2].find("the device got nothing done while destroy waited"), std::string::npos) << device.log[2];
    Device other;
    EXPECT_NE(other.queue(), nullptr) << "others serve as before";
}

TEST(Instance, ManyAreIndependent) {
    std::vector<std::unique_ptr<Device>> devices;
    for (int i = 0; i < 50; ++i) devices.push_back(std::make_unique<Device>());
    for (const auto &device : devices) ASSERT_NE(device->queue(), nullptr);
    devices.erase(devices.begin(), devices.begin() + 25);
    for (const auto &device : devices) EXPECT_NE(device->queue(), nullptr);
}

} // namespace
} // namespace sdk_test
