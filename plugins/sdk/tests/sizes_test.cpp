// SPDX-License-Identifier: Apache-2.0
// Structs that know their size: at the frozen minimum with an unreadable page behind, one step below it, and with a tail
// from the future.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

hbf_probe_in probe_in() {
    return {sizeof(hbf_probe_in), 0, nullptr, nullptr, {nullptr, 0}};
}

// Each function of the ABI that takes a sized struct, as a call on one such struct.
template <class T>
struct Case {
    const char *name;
    uint32_t min_size;
    std::function<void(T &)> fill; // inputs
    std::function<hbf_status(Device &, T *, hbf_error *)> call;
    std::function<bool(const T &)> written = [](const T &) { return true; }; // outputs
};

template <class T>
void expect_sizes_honoured(const Case<T> &c) {
    SCOPED_TRACE(c.name);
    Device device;
    ASSERT_EQ(device.status, HBF_OK);
    {
        AtPageEnd<T> exact(c.min_size);
        c.fill(*exact.get());
        Error error;
        EXPECT_EQ(c.call(device, exact.get(), error), HBF_OK) << error.message();
        EXPECT_EQ(exact->struct_size, c.min_size);
        EXPECT_TRUE(c.written(*exact.get()));
    }
    {
        AtPageEnd<T> small(c.min_size - 8);
        Error error;
        EXPECT_EQ(c.call(device, small.get(), error), HBF_INVALID);
        EXPECT_NE(error.message().find("struct_size"), std::string::npos) << error.message();
        small->struct_size = 0;
        EXPECT_EQ(c.call(device, small.get(), nullptr), HBF_INVALID);
    }
    {
        WithTail<T> later;
        c.fill(later.known);
        Error error;
        EXPECT_EQ(c.call(device, &later.known, error), HBF_OK) << error.message();
        EXPECT_TRUE(later.tail_untouched());
        EXPECT_TRUE(c.written(later.known));
    }
    Error error;
    EXPECT_EQ(c.call(device, nullptr, error), HBF_INVALID);
    EXPECT_NE(error.message().find("NULL"), std::string::npos) << error.message();
}

TEST(Sizes, OfProbeIn) {
    expect_sizes_honoured<hbf_probe_in>({"probe in", HBF_PROBE_IN_MIN_SIZE, [](auto &) {},
                                         [](Device &, hbf_probe_in *in, hbf_error *error) {
                                             hbf_probe_out out{sizeof out, 0, nullptr, 0, 0, 0};
                                             return plugin().probe(in, &out, error);
                                         }});
}

TEST(Sizes, OfProbeOut) {
    expect_sizes_honoured<hbf_probe_out>({"probe out", HBF_PROBE_OUT_MIN_SIZE, [](auto &) {},
                                          [](Device &, hbf_probe_out *out, hbf_error *error) {
                                              const hbf_probe_in in = probe_in();
                                              return plugin().probe(&in, out, error);
                                          },
                                          [](const hbf_probe_out &out) { return out.device_count == 2; }});
}

TEST(Sizes, OfCreateIn) {
    expect_sizes_honoured<hbf_create_in>({"create in", HBF_CREATE_IN_MIN_SIZE, [](auto &) {},
                                          [](Device &, hbf_create_in *in, hbf_error *error) {
                                              hbf_instance *instance = nullptr;
                                              const hbf_status status = plugin().create(in, &instance, error);
                                              plugin().destroy(instance);
                                              return status;
                                          }});
}

TEST(Sizes, OfTierInfo) {
    expect_sizes_honoured<hbf_tier_info>({"tier info", HBF_TIER_INFO_MIN_SIZE, [](auto &) {},
                                          [](Device &device, hbf_tier_info *out, hbf_error *error) {
                                              return device.tier().describe(device.instance, 0, out, error);
                                          },
                                          [](const hbf_tier_info &out) {
                                              return out.capacity == 1 << 20 &&
                                                     std::string(out.name) == "a name of exactly 32 characters";
                                          }});
}

TEST(Sizes, OfAllocDesc) {
    expect_sizes_honoured<hbf_alloc_desc>({"alloc desc", HBF_ALLOC_DESC_MIN_SIZE,
                                           [](hbf_alloc_desc &desc) { desc.size = 100; },
                                           [](Device &device, hbf_alloc_desc *desc, hbf_error *error) {
                                               hbf_region_info out{};
                                               out.struct_size = sizeof out;
                                               return device.tier().alloc(device.instance, desc, &out, error);
                                           }});
}

TEST(Sizes, OfRegionInfo) {
    const auto good = [](const hbf_region_info &out) { return out.region != 0 && out.size == 100; };
    expect_sizes_honoured<hbf_region_info>({"alloc out", HBF_REGION_INFO_MIN_SIZE, [](auto &) {},
                                            [](Device &device, hbf_region_info *out, hbf_error *error) {
                                                hbf_alloc_desc desc{};
                                                desc.struct_size = sizeof desc;
                                                desc.size = 100;
                                                return device.tier().alloc(device.instance, &desc, out, error);
                                            },
                                            good});
    expect_sizes_honoured<hbf_region_info>({"register_host out", HBF_REGION_INFO_MIN_SIZE, [](auto &) {},
                                            [](Device &device, hbf_region_info *out, hbf_error *error) {
                                                static char memory[100];
                                                return device.tier().register_host(device.instance, memory, 100, out, error);
                                            },
                                            good});
}

TEST(Sizes, OfQueueInfo) {
    expect_sizes_honoured<hbf_queue_info>({"queue info", HBF_QUEUE_INFO_MIN_SIZE, [](auto &) {},
                                           [](Device &device, hbf_queue_info *out, hbf_error *error) {
                                               return device.queues().info(device.instance, out, error);
                                           },
                                           [](const hbf_queue_info &out) { return out.max_queues == 3; }});
}

TEST(Sizes, OfQueueDesc) {
    expect_sizes_honoured<hbf_queue_desc>({"queue desc", HBF_QUEUE_DESC_MIN_SIZE, [](auto &) {},
                                           [](Device &device, hbf_queue_desc *desc, hbf_error *error) {
                                               hbf_queue *queue = nullptr;
                                               return device.queues().create(device.instance, desc, &queue, error);
                                           }});
}

TEST(Sizes, OfBatch) {
    expect_sizes_honoured<hbf_batch>({"batch", HBF_BATCH_MIN_SIZE, [](auto &) {},
                                      [](Device &device, hbf_batch *batch, hbf_error *error) {
                                          uint64_t value = 0;
                                          hbf_queue *queue = device.queue();
                                          const hbf_status status = device.queues().submit(queue, batch, &value, error);
                                          EXPECT_EQ(device.queues().destroy(queue, nullptr), HBF_OK);
                                          return status;
                                      }});
}

TEST(Sizes, OfDomainInfo) {
    expect_sizes_honoured<hbf_domain_info>(
        {"domain info", HBF_DOMAIN_INFO_MIN_SIZE, [](auto &) {},
         [](Device &device, hbf_domain_info *out, hbf_error *error) {
             return device.extension<hbf_coherence_ext>(HBF_EXT_COHERENCE)->describe(device.instance, 0, out, error);
         },
         [](const hbf_domain_info &out) { return out.granule == 64; }});
}

TEST(Sizes, OfKernelInfo) {
    expect_sizes_honoured<hbf_kernel_info>(
        {"kernel info", HBF_KERNEL_INFO_MIN_SIZE, [](auto &) {},
         [](Device &device, hbf_kernel_info *out, hbf_error *error) {
             return device.extension<hbf_kernels_ext>(HBF_EXT_KERNELS)->find(device.instance, text("copy"), out, error);
         },
         [](const hbf_kernel_info &out) { return out.kernel == 5 && out.arguments_size == 24; }});
}

TEST(Sizes, OfProgress) { // poll has no error buffer
    Device device;
    hbf_queue *queue = device.queue();
    AtPageEnd<hbf_progress> exact(HBF_PROGRESS_MIN_SIZE);
    exact->completed = 99;
    EXPECT_EQ(device.queues().poll(queue, exact.get()), HBF_OK);
    EXPECT_EQ(exact->completed, 0u);
    AtPageEnd<hbf_progress> small(HBF_PROGRESS_MIN_SIZE - 8);
    EXPECT_EQ(device.queues().poll(queue, small.get()), HBF_INVALID);
    WithTail<hbf_progress> later;
    EXPECT_EQ(device.queues().poll(queue, &later.known), HBF_OK);
    EXPECT_TRUE(later.tail_untouched());
    EXPECT_EQ(device.queues().poll(queue, nullptr), HBF_INVALID);
    EXPECT_EQ(device.queues().poll(nullptr, exact.get()), HBF_INVALID);
}

// Arrays: each element has its own size, and the stride is the host's.
template <class T>
struct Strided {
    std::vector<WithTail<T>> elements;
    explicit Strided(size_t count) : elements(count) {}
    T *first() { return &elements[0].known; }
    static constexpr uint64_t stride = sizeof(WithTail<T>);
};

TEST(Sizes, OfProbedDevicesByStride) {
    static_assert(Strided<hbf_device_info>::stride % 8 == 0);
    Strided<hbf_device_info> array(3); // the plugin finds two
    const hbf_probe_in in = probe_in();
    hbf_probe_out out{sizeof out, 3, array.first(), array.stride, 0, 0};
    Error error;
    ASSERT_EQ(plugin().probe(&in, &out, error), HBF_OK) << error.message();
    EXPECT_EQ(out.device_count, 2u);
    EXPECT_STREQ(array.elements[0].known.id, "test0");
    EXPECT_STREQ(array.elements[1].known.id, "test1");
    EXPECT_STREQ(array.elements[2].known.id, "") << "past what was found";
    for (const auto &element : array.elements) EXPECT_TRUE(element.tail_untouched());

    out.device_capacity = 1; // more found than fit
    array = Strided<hbf_device_info>(3);
    out.devices = array.first();
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_OK);
    EXPECT_EQ(out.device_count, 2u);
    EXPECT_STREQ(array.elements[1].known.id, "");

    for (const uint64_t stride : {uint64_t{0}, uint64_t{HBF_DEVICE_INFO_MIN_SIZE} - 8, array.stride + 4}) {
        out.device_stride = stride;
        EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID) << stride;
        EXPECT_EQ(out.device_count, 0u);
    }
    out.device_stride = array.stride;
    out.device_capacity = 3;
    array.elements[2].known.struct_size = HBF_DEVICE_INFO_MIN_SIZE - 1;
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID);
    EXPECT_NE(error.message().find("element 2"), std::string::npos) << error.message();
    EXPECT_STREQ(array.elements[2].known.id, "") << "nothing is written by a refused call";
    array.elements[2].known.struct_size = static_cast<uint32_t>(array.stride + 8);
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID) << "an element may not reach into the next";
    out.devices = nullptr;
    EXPECT_EQ(plugin().probe(&in, &out, error), HBF_INVALID);
}

TEST(Sizes, OfReadingsByStride) {
    Device device;
    const auto *health = device.extension<hbf_health_ext>(HBF_EXT_HEALTH);
    Strided<hbf_reading> array(2);
    uint32_t count = 0;
    Error error;
    ASSERT_EQ(health->read(device.instance, array.first(), array.stride, 2, &count, error), HBF_OK) << error.message();
    EXPECT_EQ(count, 3u) << "one more than fits";
    EXPECT_EQ(array.elements[1].known.value, 101u);
    for (const auto &element : array.elements) EXPECT_TRUE(element.tail_untouched());
    EXPECT_EQ(health->read(device.instance, nullptr, 0, 0, &count, error), HBF_OK);
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(health->read(device.instance, nullptr, 0, 1, &count, error), HBF_INVALID);
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(health->read(device.instance, nullptr, 0, 0, nullptr, error), HBF_INVALID);
}

TEST(Sizes, OfTheErrorBuffer) {
    Device device;
    const auto refuse = [&](hbf_error *error) { return device.tier().free(device.instance, 12345, error); };
    AtPageEnd<hbf_error> exact(HBF_ERROR_MIN_SIZE); // no region, no offset
    char message[64] = "";
    exact->message = message;
    exact->capacity = sizeof message;
    EXPECT_EQ(refuse(exact.get()), HBF_INVALID);
    EXPECT_EQ(exact->length, std::string(message).size());
    EXPECT_NE(exact->length, 0u);

    AtPageEnd<hbf_error> small(HBF_ERROR_MIN_SIZE - 8); // too small to be used at all
    small->message = message;
    message[0] = '\0';
    EXPECT_EQ(refuse(small.get()), HBF_INVALID);
    EXPECT_STREQ(message, "");

    WithTail<hbf_error> later;
    EXPECT_EQ(refuse(&later.known), HBF_INVALID);
    EXPECT_TRUE(later.tail_untouched());
    EXPECT_NE(later.known.length, 0u);
    EXPECT_EQ(later.known.region, 12345u);
    EXPECT_EQ(refuse(nullptr), HBF_INVALID);
}

} // namespace
} // namespace sdk_test
