// SPDX-License-Identifier: Apache-2.0
// Faults of the calls themselves: statuses, messages, sizes, strings, exceptions; and of the process.
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

size_t entries(const char *folder) {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(Calls, AFailureSaysAnother) {
    Wrapped swallow("swallow-error,call=free"), wrong("wrong-status,from=invalid,to=busy"), none("error-without-message");
    EXPECT_EQ(swallow.free(77).status, HBF_OK);
    EXPECT_EQ(wrong.free(77).status, HBF_BUSY);
    const Answer silent = none.free(77);
    EXPECT_EQ(silent.status, HBF_INVALID);
    EXPECT_THAT(silent.message, IsEmpty());
}

TEST(Calls, MessagesWhereTheyMustNotBe) {
    Wrapped success("error-written-on-success"), overflow("message-overflow,bytes=2");
    const hbf_region region = success.alloc(64).region;
    EXPECT_THAT(success.free(region).message, HasSubstr("went well"));
    char text[12] = "..........";
    hbf_error error{sizeof error, 0, text, 8, 0, 0, 0};
    EXPECT_EQ(overflow.tier->free(overflow.instance, 77, &error), HBF_INVALID);
    EXPECT_EQ(text[9], 'x');
    EXPECT_EQ(text[10], '\0');
}

TEST(Calls, HandlesAreLeft) {
    Wrapped device("out-handle-left");
    hbf_queue_desc desc{};
    desc.struct_size = sizeof desc;
    desc.flags = 5;
    hbf_queue *queue = nullptr;
    EXPECT_EQ(device.queue->create(device.instance, &desc, &queue, nullptr), HBF_INVALID);
    EXPECT_NE(queue, nullptr);
    hbf_alloc_desc nothing{};
    nothing.struct_size = sizeof nothing;
    hbf_region_info out{};
    out.struct_size = sizeof out;
    EXPECT_EQ(device.tier->alloc(device.instance, &nothing, &out, nullptr), HBF_INVALID);
    EXPECT_NE(out.region, 0u);
}

TEST(Calls, Sizes) {
    struct {
        hbf_tier_info info{};
        unsigned char tail[16] = {};
    } out;
    out.info.struct_size = sizeof out.info;
    Wrapped past("writes-past-struct-size"), size("writes-struct-size"), exact("exact-struct-size"),
        reads("reads-past-struct-size,call=alloc");
    EXPECT_EQ(past.tier->describe(past.instance, 0, &out.info, nullptr), HBF_OK);
    EXPECT_EQ(out.tail[7], 0xee);
    EXPECT_EQ(out.tail[8], 0);
    out.info.struct_size = sizeof out;
    EXPECT_EQ(exact.tier->describe(exact.instance, 0, &out.info, nullptr), HBF_INVALID);
    EXPECT_EQ(size.tier->describe(size.instance, 0, &out.info, nullptr), HBF_OK);
    EXPECT_EQ(out.info.struct_size, sizeof(hbf_tier_info));
    struct {
        hbf_alloc_desc desc{};
        unsigned char tail[16] = {};
    } in;
    in.desc.struct_size = sizeof in.desc;
    in.desc.size = 64;
    hbf_region_info region{};
    region.struct_size = sizeof region;
    EXPECT_EQ(reads.tier->alloc(reads.instance, &in.desc, &region, nullptr), HBF_OK);
    in.tail[3] = 1;
    EXPECT_EQ(reads.tier->alloc(reads.instance, &in.desc, &region, nullptr), HBF_INVALID);
}

TEST(Calls, AnExceptionReallyCrosses) {
    Wrapped device("throws-exception,call=free");
    // As a host in another language would call it: without C++'s promise that nothing is thrown.
    const auto free = reinterpret_cast<hbf_status (*)(hbf_instance *, hbf_region, hbf_error *)>(device.tier->free);
    EXPECT_ANY_THROW(free(device.instance, 0, nullptr));
}

TEST(CallsDeathTest, ANullIsUsed) {
    Wrapped device("null-argument-crashes");
    EXPECT_DEATH(device.tier->describe(device.instance, 0, nullptr, nullptr), "");
}

TEST(Calls, StringsOfCreateAreReadAgain) {
    std::string id = "host0";
    const std::string path = host_plugin_path(), fault = "dangling-string";
    const hbf_option options[] = {{{"inject.plugin", 13}, {path.data(), path.size()}},
                                  {{"inject.fault", 12}, {fault.data(), fault.size()}}};
    hbf_create_in in{sizeof in, 2, nullptr, options, {id.data(), id.size()}, {nullptr, 0}};
    hbf_instance *instance = nullptr;
    ASSERT_EQ(wrapper().create(&in, &instance, nullptr), HBF_OK);
    const auto &tier = *static_cast<const hbf_tier_ext *>(wrapper().get_extension(instance, {HBF_EXT_TIER, 10}));
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.size = 64;
    hbf_region_info out{};
    out.struct_size = sizeof out;
    EXPECT_EQ(tier.alloc(instance, &desc, &out, nullptr), HBF_OK);
    id[0] = '?';
    EXPECT_EQ(tier.alloc(instance, &desc, &out, nullptr), HBF_INTERNAL);
    wrapper().destroy(instance);
}

uint32_t declared_capabilities(Wrapped &device) {
    hbf_queue_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(device.queue->info(device.instance, &info, nullptr), HBF_OK);
    return info.capabilities;
}

TEST(Calls, CapabilitiesAreDeclaredAndMissing) {
    Wrapped cancel("declared-missing,what=cancel"), crc("declared-missing,what=crc"), launch("declared-missing,what=launch"),
        exported("declared-missing,what=export"), coherence("declared-missing,what=coherence"),
        health("declared-missing,what=health");
    EXPECT_TRUE(declared_capabilities(cancel) & HBF_QUEUE_CAP_CANCEL);
    EXPECT_EQ(cancel.queue->cancel(cancel.make_queue(), 1, nullptr), HBF_UNSUPPORTED);
    EXPECT_TRUE(declared_capabilities(crc) & HBF_QUEUE_CAP_CRC32C);
    const hbf_region_info region = crc.alloc(64);
    uint32_t sum = 0;
    hbf_command checked = copy(region, 0, region, 32, 32);
    checked.flags = HBF_COPY_CRC32C;
    checked.u.copy.crc = &sum;
    EXPECT_EQ(crc.run(crc.make_queue(), {checked}).status, HBF_UNSUPPORTED);
    hbf_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    const auto *kernels = launch.extension<hbf_kernels_ext>(HBF_EXT_KERNELS);
    ASSERT_NE(kernels, nullptr);
    EXPECT_EQ(kernels->find(launch.instance, {"copy", 4}, &kernel, nullptr), HBF_UNSUPPORTED);
    ASSERT_NE(exported.tier->export_region, nullptr);
    EXPECT_EQ(exported.tier->export_region(exported.instance, 1, nullptr, nullptr, nullptr), HBF_UNSUPPORTED);
    hbf_domain_info domain{};
    domain.struct_size = sizeof domain;
    const auto *domains = coherence.extension<hbf_coherence_ext>(HBF_EXT_COHERENCE);
    EXPECT_EQ(domains->describe(coherence.instance, 0, &domain, nullptr), HBF_UNSUPPORTED);
    uint32_t count = 1;
    const auto *readings = health.extension<hbf_health_ext>(HBF_EXT_HEALTH);
    EXPECT_EQ(readings->read(health.instance, nullptr, 0, 0, &count, nullptr), HBF_UNSUPPORTED);
    EXPECT_EQ(count, 0u);
}

TEST(Calls, CapabilitiesAreNotDeclared) {
    Wrapped coherence("works-undeclared,what=coherence"), registered("works-undeclared,what=register");
    EXPECT_EQ(coherence.extension<hbf_coherence_ext>(HBF_EXT_COHERENCE), nullptr);
    EXPECT_EQ(registered.tier->register_host, nullptr);
}

TEST(Calls, DomainsLie) {
    Wrapped none(""), software("domain-misdeclared,what=software"), granule("domain-misdeclared,what=granule");
    const auto describe = [](Wrapped &device) {
        hbf_domain_info domain{};
        domain.struct_size = sizeof domain;
        EXPECT_EQ(device.extension<hbf_coherence_ext>(HBF_EXT_COHERENCE)->describe(device.instance, 0, &domain, nullptr),
                  HBF_OK);
        return domain;
    };
    EXPECT_EQ(describe(software).protocol, HBF_PROTOCOL_SOFTWARE);
    EXPECT_EQ(describe(granule).granule * 2, describe(none).granule);
}

TEST(Calls, QueueLimitsLie) {
    const auto info = [](const std::string &fault) {
        Wrapped device(fault);
        hbf_queue_info out{};
        out.struct_size = sizeof out;
        EXPECT_EQ(device.queue->info(device.instance, &out, nullptr), HBF_OK);
        return out;
    };
    EXPECT_EQ(info("queue-limit-overstated").max_commands, info("").max_commands + 1);
    EXPECT_EQ(info("queue-limit-overstated,what=depth").max_depth, info("").max_depth + 1);
}

TEST(Calls, AnUnknownOptionIsLeftOut) {
    EXPECT_EQ(Wrapped("unknown-option-ignored", {{"no_such", "1"}}).answer.status, HBF_OK);
    EXPECT_EQ(Wrapped("", {{"no_such", "1"}}).answer.status, HBF_INVALID);
}

TEST(Calls, InstancesShareState) {
    Wrapped stays("instances-share-state");
    stays.alloc(64);
    {
        const Wrapped ends("instances-share-state");
    }
    EXPECT_THROW(stays.alloc(64), std::runtime_error);
}

TEST(Process, IsChanged) {
    unsetenv("HBF_INJECTED");
    {
        const Wrapped device("changes-environment,call=create");
    }
    EXPECT_STREQ(std::getenv("HBF_INJECTED"), "1");
    unsetenv("HBF_INJECTED");
    {
        const Wrapped device("changes-environment,call=create,what=rounding");
    }
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetround(FE_TONEAREST);
}

TEST(Process, SomethingIsLeft) {
    const size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    {
        const Wrapped device("leak-at-destroy,what=descriptor");
    }
    EXPECT_EQ(entries("/proc/self/fd"), descriptors + 1);
    {
        const Wrapped device("thread-left-after-destroy");
    }
    EXPECT_EQ(entries("/proc/self/task"), threads + 1);
}

TEST(Process, ProbeLeavesADescriptor) {
    const std::string path = host_plugin_path(), fault = "probe-wrong";
    const hbf_option options[] = {{{"inject.plugin", 13}, {path.data(), path.size()}},
                                  {{"inject.fault", 12}, {fault.data(), fault.size()}}};
    const hbf_probe_in in{sizeof in, 2, nullptr, options, {nullptr, 0}};
    hbf_probe_out out{sizeof out, 0, nullptr, 0, 0, 0};
    const size_t descriptors = entries("/proc/self/fd");
    EXPECT_EQ(wrapper().probe(&in, &out, nullptr), HBF_OK);
    EXPECT_EQ(out.device_count, 1u);
    EXPECT_EQ(entries("/proc/self/fd"), descriptors + 1);
}

TEST(Process, TheLogIsFlooded) {
    Wrapped device("log-flood,lines=5;log-bad-level");
    uint64_t value = 0;
    EXPECT_EQ(device.submit(device.make_queue(), {}, value).status, HBF_OK);
    EXPECT_GE(device.log.size(), 6u);
}

TEST(Calls, ASuccessIsDenied) {
    Wrapped device("success-denied,call=free,to=busy");
    const hbf_region region = device.alloc(64).region;
    EXPECT_EQ(device.free(region).status, HBF_BUSY);
    EXPECT_EQ(device.free(region).status, HBF_INVALID) << "it was freed all the same";
}

TEST(Calls, ASuccessGivesNothing) {
    EXPECT_EQ(Wrapped("nothing-given,call=create").instance, nullptr);
    EXPECT_EQ(Wrapped("nothing-given,call=create").answer.status, HBF_OK);
    EXPECT_EQ(Wrapped("nothing-given").alloc(64).region, 0u);
    EXPECT_EQ(Wrapped("nothing-given,call=queue").make_queue(), nullptr);
    EXPECT_LT(Wrapped("region-facts-wrong").alloc(64).size, 64u);
    EXPECT_EQ(Wrapped("region-facts-wrong,what=unmapped").alloc(64).address, nullptr);
    EXPECT_EQ(Wrapped("table-wrong").queue, nullptr);
    Wrapped small("table-wrong,what=short");
    EXPECT_LT(small.queue->struct_size, HBF_QUEUE_EXT_MIN_SIZE);
}

} // namespace
} // namespace hbf::inject::testing
