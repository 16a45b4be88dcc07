// SPDX-License-Identifier: Apache-2.0
// What goes wrong inside a plugin, as the host sees it: a status, a message, and nothing half-made.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

hbf_status probe(const OptionList &options, hbf_error *error, uint32_t *count = nullptr) {
    std::vector<hbf_option> given;
    for (const auto &[key, value] : options) given.push_back({text(key), text(value)});
    hbf_probe_in in{sizeof in, static_cast<uint32_t>(given.size()), nullptr, given.data(), {nullptr, 0}};
    hbf_probe_out out{sizeof out, 0, nullptr, 0, 77, 0};
    const hbf_status status = plugin().probe(&in, &out, error);
    if (count) *count = out.device_count;
    return status;
}

// Calls the function of the ABI behind which the virtual function `where` is.
hbf_status call(const std::string &where, const std::string &what, hbf_error *error) {
    const OptionList options{{"throw", where + ":" + what}};
    if (where == "probe") {
        uint32_t count = 0;
        const hbf_status status = probe(options, error, &count);
        EXPECT_EQ(count, 0u) << "an output of a failed call";
        return status;
    }
    Device device(options);
    if (device.status != HBF_OK) {
        EXPECT_EQ(device.instance, nullptr);
        return device.status;
    }
    const auto &tier = device.tier();
    const auto &queues = device.queues();
    hbf_region_info region{};
    region.struct_size = sizeof region;
    region.region = 99;
    if (where == "describe_tier") {
        hbf_tier_info info{};
        info.struct_size = sizeof info;
        return tier.describe(device.instance, 0, &info, error);
    }
    if (where == "alloc" || where == "register_host") {
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.size = 64;
        const hbf_status status = where == "alloc" ? tier.alloc(device.instance, &desc, &region, error)
                                                   : tier.register_host(device.instance, &desc, 64, &region, error);
        EXPECT_EQ(region.region, 0u) << "an out-handle of a failed call";
        return status;
    }
    if (where == "free") return tier.free(device.instance, 1, error);
    if (where == "create_queue") {
        const hbf_queue_desc desc{sizeof desc, 0, 0, 0};
        hbf_queue *queue = reinterpret_cast<hbf_queue *>(&device);
        hbf_status status = HBF_OK;
        for (int i = 0; i < 9; ++i) { // more often than max_queues: a failed one takes no place
            status = queues.create(device.instance, &desc, &queue, error);
            EXPECT_EQ(queue, nullptr);
        }
        return status;
    }
    if (where == "describe") {
        hbf_domain_info info{};
        info.struct_size = sizeof info;
        return device.extension<hbf_coherence_ext>(HBF_EXT_COHERENCE)->describe(device.instance, 0, &info, error);
    }
    if (where == "find") {
        hbf_kernel_info info{};
        info.struct_size = sizeof info;
        info.kernel = 99;
        const auto *kernels = device.extension<hbf_kernels_ext>(HBF_EXT_KERNELS);
        const hbf_status status = kernels->find(device.instance, text("copy"), &info, error);
        EXPECT_EQ(info.kernel, 0u);
        return status;
    }
    if (where == "kernel_name") {
        hbf_string name{};
        return device.extension<hbf_kernels_ext>(HBF_EXT_KERNELS)->name(device.instance, 0, &name, error);
    }
    if (where == "read") {
        uint32_t count = 99;
        const auto *health = device.extension<hbf_health_ext>(HBF_EXT_HEALTH);
        const hbf_status status = health->read(device.instance, nullptr, 0, 0, &count, error);
        EXPECT_EQ(count, 0u);
        return status;
    }
    hbf_queue *queue = device.queue();
    const hbf_batch empty{sizeof empty, HBF_COMMAND_SIZE, nullptr, 0};
    uint64_t value = 99;
    const hbf_status submitted = queues.submit(queue, &empty, &value, error);
    if (where == "submit") {
        EXPECT_EQ(value, 0u);
        return submitted;
    }
    if (where == "wait") return queues.wait(queue, 1, 0, error);
    if (where == "cancel") return queues.cancel(queue, 1, error);
    if (where == "failure") return queues.failure(queue, error);
    ADD_FAILURE() << "no call for " << where;
    return HBF_OK;
}

class EveryVirtual : public testing::TestWithParam<const char *> {};

TEST_P(EveryVirtual, ThrowsAndTheHostGetsAStatusAndAMessage) {
    const std::string where = GetParam();
    // The ones that run inside create write to the buffer of Device, which is gone by then: look at the status alone.
    const bool in_create = where == "create" || where == "tier_count" || where == "queue_info" || where == "coherence";
    const struct {
        const char *what;
        hbf_status status;
        std::string message;
    } kinds[] = {
        {"failure", HBF_DATA_LOSS, "planted in " + where},
        {"success", HBF_INTERNAL, "a failure that says it is none"},
        {"unheard", HBF_INTERNAL, "a status nobody knows"},
        {"bad_alloc", HBF_EXHAUSTED, "out of memory"},
        {"runtime_error", HBF_INTERNAL, "standard exception in " + where},
        {"int", HBF_INTERNAL, "exception of a type unknown to the SDK"},
        {"struct", HBF_INTERNAL, "exception of a type unknown to the SDK"},
    };
    for (const auto &kind : kinds) {
        SCOPED_TRACE(kind.what);
        EXPECT_EQ(call(where, kind.what, nullptr), kind.status) << "without an error buffer";
        if (in_create) {
            Device device(OptionList{{"throw", where + ":" + kind.what}});
            EXPECT_EQ(device.status, kind.status);
            EXPECT_EQ(device.error.message(), kind.message);
            EXPECT_EQ(device.error.raw.length, kind.message.size());
            continue;
        }
        Error error;
        EXPECT_EQ(call(where, kind.what, error), kind.status);
        EXPECT_EQ(error.message(), kind.message);
        EXPECT_EQ(error.raw.length, kind.message.size());
        const bool has_place = std::string(kind.what) == "failure";
        EXPECT_EQ(error.raw.region, has_place ? 77u : 0u);
        EXPECT_EQ(error.raw.offset, has_place ? 4096u : HBF_NO_PLACE);
    }
}

INSTANTIATE_TEST_SUITE_P(Sdk, EveryVirtual,
                         testing::Values("probe", "create", "tier_count", "queue_info", "coherence", "describe_tier",
                                         "alloc", "free", "register_host", "create_queue", "submit", "wait", "cancel",
                                         "failure", "describe", "find", "kernel_name", "read"),
                         [](const auto &tested) { return std::string(tested.param); });

// The cut rule: at most `capacity` bytes with the NUL, the full length always, never half a character.
struct Cut {
    const char *message;
    uint64_t capacity;
    const char *kept;
};

class MessageCut : public testing::TestWithParam<Cut> {};

TEST_P(MessageCut, KeepsWhatFitsAndSaysTheFullLength) {
    const auto &[message, capacity, kept] = GetParam();
    char buffer[32];
    for (char &byte : buffer) byte = '#';
    hbf_error error{sizeof error, 0, buffer, capacity, 0, 0, 0};
    EXPECT_EQ(probe({{"throw", std::string("probe:") + message}}, &error), HBF_INVALID);
    EXPECT_EQ(error.length, std::string(message).size());
    if (capacity > 0) {
        EXPECT_STREQ(buffer, kept);
    }
    for (size_t i = capacity; i < sizeof buffer; ++i) EXPECT_EQ(buffer[i], '#') << "written past the capacity at " << i;
}

INSTANTIATE_TEST_SUITE_P(Sdk, MessageCut,
                         testing::Values(Cut{"hello there", 0, ""}, Cut{"hello there", 1, ""},
                                         Cut{"hello there", 6, "hello"}, Cut{"hello there", 11, "hello ther"},
                                         Cut{"hello there", 12, "hello there"}, Cut{"hello there", 32, "hello there"},
                                         Cut{"gr\u00fc\u00dfe", 4, "gr"}, Cut{"gr\u00fc\u00dfe", 5, "gr\u00fc"},
                                         Cut{"gr\u00fc\u00dfe", 6, "gr\u00fc"}, Cut{"gr\u00fc\u00dfe", 7, "gr\u00fc\u00df"},
                                         Cut{"\u20ac", 3, ""}));

TEST(Message, BufferMayBeNull) {
    hbf_error error{sizeof error, 0, nullptr, 100, 0, 0, 0};
    EXPECT_EQ(probe({{"throw", "probe:hello"}}, &error), HBF_INVALID);
    EXPECT_EQ(error.length, 5u);
}

TEST(Message, IsUntouchedOnSuccess) {
    Error error;
    EXPECT_EQ(probe({}, error), HBF_OK);
    EXPECT_EQ(error.message(), "untouched");
    EXPECT_EQ(error.raw.length, 9u);
}

TEST(Probe, NoDeviceIsUnavailable) {
    Error error;
    EXPECT_EQ(probe({{"devices", "0"}}, error), HBF_UNAVAILABLE);
    EXPECT_EQ(error.message(), "no device found");
}

TEST(Options, BadOnesAreRefused) {
    Error error;
    EXPECT_EQ(probe({{"a", "1"}, {"a", "2"}}, error), HBF_INVALID);
    EXPECT_NE(error.message().find("twice: a"), std::string::npos) << error.message();

    hbf_option broken{{nullptr, 3}, {nullptr, 0}};
    hbf_probe_in in{sizeof in, 1, nullptr, &broken, {nullptr, 0}};
    hbf_probe_out out{sizeof out, 0, nullptr, 0, 0, 0};
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID);
    in.options = nullptr;
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID);
    EXPECT_NE(error.message().find("options is NULL"), std::string::npos) << error.message();

    hbf_host_services small{};
    small.struct_size = HBF_HOST_SERVICES_MIN_SIZE - 8;
    in = {sizeof in, 0, &small, nullptr, {nullptr, 0}};
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID);
}

} // namespace
} // namespace sdk_test
