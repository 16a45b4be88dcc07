// SPDX-License-Identifier: Apache-2.0
// Without a fault nobody can tell the wrapper from the plugin: the same calls get the same answers, word for word.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

const hbf_plugin &open_directly(const std::string &path) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    return *reinterpret_cast<hbf_plugin_query_fn>(dlsym(library, HBF_PLUGIN_QUERY_SYMBOL))(HBF_ABI_VERSION, &host);
}

// Calls everything there is, well and badly, and writes down each answer.
class Transcript {
public:
    Transcript(const hbf_plugin &plugin, const OptionList &options) : plugin_(plugin) {
        for (const auto &[key, value] : options) given_.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
        probe();
        create();
        if (!instance_) return;
        tiers();
        queues();
        others();
        plugin_.destroy(instance_);
        plugin_.destroy(nullptr);
    }
    std::vector<std::string> lines;

private:
    // One call: its status and all of the error buffer, which is 64 bytes small so that messages are cut too.
    void say(const std::string &what, const std::function<hbf_status(hbf_error *)> &call, const std::string &outputs = "") {
        char text[64] = "untouched";
        hbf_error error{sizeof error, 0, text, sizeof text, 9, 0, HBF_NO_PLACE};
        const hbf_status status = call(&error);
        const hbf_status again = call(nullptr); // without a buffer
        lines.push_back(fmt::format("{}: {} {} \"{}\" {} {:#x} {:#x} {}", what, status, again, text, error.length,
                                    error.region, error.offset, outputs));
    }
    template <class Ext>
    const Ext *extension(std::string_view id) {
        const auto *table = static_cast<const Ext *>(plugin_.get_extension(instance_, {id.data(), id.size()}));
        EXPECT_EQ(table, plugin_.get_extension(instance_, {id.data(), id.size()}));
        lines.push_back(fmt::format("{} {}", id, table ? table->struct_size : 0));
        return table;
    }

    void probe() {
        hbf_probe_in in{sizeof in, static_cast<uint32_t>(given_.size()), nullptr, given_.data(), {"/", 1}};
        for (const uint32_t capacity : {0u, 1u, 8u}) {
            // Elements of a later version: larger, apart.
            struct Later {
                hbf_device_info info;
                char tail[64];
            };
            std::vector<Later> devices(8);
            for (Later &one : devices) {
                std::memset(static_cast<void *>(&one), 0x5a, sizeof one);
                one.info.struct_size = sizeof one;
            }
            hbf_probe_out out{sizeof out, capacity, capacity ? &devices[0].info : nullptr, sizeof(Later), 77, 0};
            say(fmt::format("probe {}", capacity), [&](hbf_error *e) { return plugin_.probe(&in, &out, e); });
            lines.push_back(fmt::format("{} {:x}", out.device_count, fmt::join(bytes_of(devices), "")));
        }
        say("probe without out", [&](hbf_error *e) { return plugin_.probe(&in, nullptr, e); });
    }
    template <class T>
    static std::vector<unsigned> bytes_of(const std::vector<T> &values) {
        const auto *first = reinterpret_cast<const unsigned char *>(values.data());
        return {first, first + values.size() * sizeof(T)};
    }

    void create() {
        hbf_create_in in{sizeof in, static_cast<uint32_t>(given_.size()), nullptr, given_.data(), {"nowhere", 7}, {"/", 1}};
        auto *left = reinterpret_cast<hbf_instance *>(&in);
        say("create of an unknown device", [&](hbf_error *e) { return plugin_.create(&in, &left, e); });
        lines.push_back(left ? "left" : "NULL");
        std::vector<hbf_option> more = given_;
        more.push_back({{"no_such_option", 14}, {"1", 1}});
        in.device_id = {nullptr, 0};
        in.options = more.data();
        in.option_count = static_cast<uint32_t>(more.size());
        say("create with an unknown option", [&](hbf_error *e) {
            hbf_instance *made = nullptr;
            const hbf_status status = plugin_.create(&in, &made, e);
            if (made) plugin_.destroy(made);
            return status;
        });
        in.options = given_.data();
        in.option_count = static_cast<uint32_t>(given_.size());
        lines.push_back(fmt::format("create {}", plugin_.create(&in, &instance_, nullptr)));
    }

    hbf_region_info alloc(const hbf_tier_ext &table, uint64_t size, uint64_t alignment, uint32_t tier = 0) {
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.tier = tier;
        desc.size = size;
        desc.alignment = alignment;
        hbf_region_info out{};
        char text[256] = "";
        hbf_error error{sizeof error, 0, text, sizeof text, 0, 0, HBF_NO_PLACE};
        out.struct_size = sizeof out;
        const hbf_status status = table.alloc(instance_, &desc, &out, &error);
        lines.push_back(fmt::format("alloc {} {}: {} {} {} {} {} {}", size, alignment, status, text, out.tier, out.size,
                                    out.page_size, out.address != nullptr));
        return out;
    }
    void tiers() {
        const auto *table = extension<hbf_tier_ext>(HBF_EXT_TIER);
        lines.push_back(fmt::format("{} {} {} {}", table->tier_count, table->register_host != nullptr,
                                    table->export_region != nullptr, table->import_region != nullptr));
        for (uint32_t tier = 0; tier <= table->tier_count; ++tier) {
            hbf_tier_info info{};
            info.struct_size = sizeof info;
            say("describe", [&](hbf_error *e) { return table->describe(instance_, tier, &info, e); });
            lines.push_back(fmt::format("{} {} {} {}", info.name, info.capacity, info.granule, info.access));
        }
        say("describe NULL", [&](hbf_error *e) { return table->describe(instance_, 0, nullptr, e); });
        say("alloc NULL", [&](hbf_error *e) { return table->alloc(instance_, nullptr, nullptr, e); });
        say("free nothing", [&](hbf_error *e) { return table->free(instance_, 0, e); });
        alloc(*table, 0, 0);
        alloc(*table, 4096, 3);
        alloc(*table, (64 << 20) + 4096, 0); // more than the host plugin has here
        const hbf_region_info region = alloc(*table, 5000, 64);
        lines.push_back(fmt::format("free {} {}", table->free(instance_, region.region, nullptr),
                                    table->free(instance_, region.region, nullptr)));
        if (!table->register_host) return;
        alignas(4096) static char memory[4096];
        hbf_region_info out{};
        out.struct_size = sizeof out;
        say("register nothing", [&](hbf_error *e) { return table->register_host(instance_, nullptr, 0, &out, e); });
        const hbf_status status = table->register_host(instance_, memory, sizeof memory, &out, nullptr);
        lines.push_back(fmt::format("register {} {} {}", status, out.size, out.address == memory));
        if (status == HBF_OK) lines.push_back(fmt::format("{}", table->free(instance_, out.region, nullptr)));
    }

    void queues() {
        const auto *table = extension<hbf_queue_ext>(HBF_EXT_QUEUE);
        const auto &tiers = *static_cast<const hbf_tier_ext *>(plugin_.get_extension(instance_, {HBF_EXT_TIER, 10}));
        hbf_queue_info info{};
        info.struct_size = sizeof info;
        say("info", [&](hbf_error *e) { return table->info(instance_, &info, e); });
        lines.push_back(fmt::format("{} {} {} {} {} {}", info.capabilities, info.visibility, info.max_depth,
                                    info.max_commands, info.max_queues, table->cancel != nullptr));
        hbf_queue_desc desc{};
        desc.struct_size = sizeof desc;
        hbf_queue *one = nullptr, *two = nullptr;
        lines.push_back(fmt::format("{} {}", table->create(instance_, &desc, &one, nullptr),
                                    table->create(instance_, &desc, &two, nullptr)));
        if (!one || !two) return;
        desc.flags = 5;
        auto *left = one;
        say("create badly", [&](hbf_error *e) { return table->create(instance_, &desc, &left, e); });
        lines.push_back(left ? "left" : "NULL");

        const hbf_region_info a = alloc(tiers, 65536, 0), b = alloc(tiers, 65536, 0);
        if (!a.address || !b.address) return;
        std::memset(a.address, 0x31, 65536);
        std::memset(b.address, 0x32, 65536);
        const auto submit = [&](hbf_queue *queue, std::vector<hbf_command> commands, const char *what) {
            // Apart, as a later host has them.
            std::vector<std::byte> room(commands.size() * 128, std::byte{0xcc});
            for (size_t i = 0; i < commands.size(); ++i)
                std::memcpy(room.data() + i * 128, &commands[i], sizeof commands[i]);
            const hbf_batch batch{sizeof batch, 128, reinterpret_cast<hbf_command *>(room.data()), commands.size()};
            uint64_t value = 0x77;
            char text[256] = "untouched";
            hbf_error error{sizeof error, 0, text, sizeof text, 9, 0, HBF_NO_PLACE};
            const hbf_status status = table->submit(queue, &batch, &value, &error);
            lines.push_back(fmt::format("{}: {} {} {}", what, status, value, text));
            return value;
        };
        submit(one, {}, "nothing");
        submit(one, {copy(b, 100, a, 200, 5000)}, "copy");
        submit(one, {copy(b, 65000, a, 0, 5000)}, "copy past the end");
        submit(one, {copy(b, 0, a, 0, 0)}, "copy nothing");
        submit(one, {copy(b, 0, b, 10, 100)}, "overlap");
        hbf_command odd = copy(b, 0, a, 0, 10);
        odd.kind = 99;
        submit(one, {odd}, "unknown kind");
        hbf_command wait{};
        wait.kind = HBF_COMMAND_WAIT;
        const uint64_t value = submit(one, {fill(a, 0, 1000, 0x44), wait, copy(b, 0, a, 0, 500)}, "a barrier between");
        wait.u.wait = {one, value};
        const uint64_t second = submit(two, {wait, copy(b, 1000, a, 0, 500)}, "a wait for the other queue");
        wait.u.wait = {one, value + 5};
        submit(two, {wait}, "a wait for what is not there");
        const hbf_batch bad{sizeof bad, 3, nullptr, UINT64_MAX};
        say("submit badly", [&](hbf_error *e) {
            uint64_t none = 0;
            return table->submit(one, &bad, &none, e);
        });
        say("wait", [&](hbf_error *e) { return table->wait(two, second, UINT64_MAX, e); });
        say("wait for what is not there", [&](hbf_error *e) { return table->wait(two, 1000, 0, e); });
        say("no failure", [&](hbf_error *e) { return table->failure(two, e); });
        if (table->cancel) say("cancel what has run", [&](hbf_error *e) { return table->cancel(two, second, e); });
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        lines.push_back(fmt::format("poll {} {} {} {}", table->poll(one, &progress), progress.completed, progress.failed,
                                    table->poll(one, nullptr)));
        const auto *bytes = static_cast<const unsigned char *>(b.address);
        lines.push_back(fmt::format("{:x}", fmt::join(bytes, bytes + 6000, "")));
        lines.push_back(fmt::format("{} {} {}", table->destroy(two, nullptr), table->destroy(one, nullptr),
                                    table->destroy(nullptr, nullptr)));
    }

    void others() {
        if (const auto *table = extension<hbf_coherence_ext>(HBF_EXT_COHERENCE))
            for (uint32_t i = 0; i <= table->domain_count; ++i) {
                hbf_domain_info info{};
                info.struct_size = sizeof info;
                say("domain", [&](hbf_error *e) { return table->describe(instance_, i, &info, e); });
                lines.push_back(fmt::format("{} {} {}", info.name, info.protocol, info.granule));
            }
        if (const auto *table = extension<hbf_kernels_ext>(HBF_EXT_KERNELS)) {
            hbf_kernel_info info{};
            info.struct_size = sizeof info;
            say("find", [&](hbf_error *e) { return table->find(instance_, {"copy", 4}, &info, e); });
            say("find nothing", [&](hbf_error *e) { return table->find(instance_, {"nothing", 7}, &info, e); });
        }
        if (const auto *table = extension<hbf_health_ext>(HBF_EXT_HEALTH)) {
            uint32_t count = 0;
            say("read", [&](hbf_error *e) { return table->read(instance_, nullptr, 0, 0, &count, e); });
            lines.push_back(fmt::format("{}", count));
        }
        lines.push_back(plugin_.get_extension(instance_, {"hbf.nothing/1", 13}) ? "something" : "nothing");
    }

    const hbf_plugin &plugin_;
    std::vector<hbf_option> given_;
    hbf_instance *instance_ = nullptr;
};

void expect_same(const std::string &path, const OptionList &options) {
    OptionList wrapped = {{"inject.plugin", path}};
    wrapped.insert(wrapped.end(), options.begin(), options.end());
    const auto direct = Transcript(open_directly(path), options).lines, through = Transcript(wrapper(), wrapped).lines;
    ASSERT_GT(direct.size(), 2u);
    for (size_t i = 0; i < std::max(direct.size(), through.size()); ++i) // the first difference says it all
        ASSERT_EQ(i < direct.size() ? direct[i] : "nothing more", i < through.size() ? through[i] : "nothing more");
}

TEST(Transparent, OverTheHostPlugin) {
    // Storage of its own: the usual folder belongs to whatever instance comes first, of any process.
    const std::string folder = std::filesystem::temp_directory_path() / ("hbf-transparent-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    expect_same(host_plugin_path(),
                {{"dram_bytes", "64MiB"}, {"hbf_bytes", "64MiB"}, {"storage_path", folder}, {"storage_bytes", "16MiB"}});
    std::filesystem::remove_all(folder);
}

TEST(Transparent, OverThePluginOfTheSdk) {
    expect_same(test_plugin_path(), {});
    expect_same(test_plugin_path(), {{"bare", "1"}});
    expect_same(test_plugin_path(), {{"devices", "0"}});
}

TEST(Transparent, WhatFailsInThePluginFailsThroughIt) {
    for (const char *where : {"probe", "create", "describe_tier", "alloc", "free", "register_host", "create_queue", "submit",
                              "wait", "cancel", "failure", "describe", "find", "read"})
        for (const char *what : {"failure", "success", "unheard", "bad_alloc", "int"}) {
            SCOPED_TRACE(fmt::format("{}:{}", where, what));
            expect_same(test_plugin_path(), {{"throw", fmt::format("{}:{}", where, what)}});
        }
}

TEST(Transparent, NullIsRefusedWhereThePluginIsNotKnown) {
    Wrapped device("");
    uint64_t value = 7;
    EXPECT_EQ(device.queue->submit(nullptr, nullptr, &value, nullptr), HBF_INVALID);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(device.queue->poll(nullptr, nullptr), HBF_INVALID);
    EXPECT_EQ(device.queue->wait(nullptr, 1, 0, nullptr), HBF_INVALID);
    EXPECT_EQ(device.queue->failure(nullptr, nullptr), HBF_INVALID);
    EXPECT_EQ(device.tier->alloc(nullptr, nullptr, nullptr, nullptr), HBF_INVALID);
    EXPECT_EQ(wrapper().probe(nullptr, nullptr, nullptr), HBF_INVALID);
    EXPECT_EQ(wrapper().create(nullptr, nullptr, nullptr), HBF_INVALID);
    EXPECT_EQ(wrapper().get_extension(nullptr, {HBF_EXT_TIER, 10}), nullptr);
}

// The middle of many short measurements, taken in turn.
TEST(Transparent, ACallCostsWellUnderAMicrosecondMore) {
    const auto cost_of = [](const hbf_plugin &plugin, const OptionList &options) {
        std::vector<hbf_option> given;
        for (const auto &[key, text] : options) given.push_back({{key.data(), key.size()}, {text.data(), text.size()}});
        hbf_create_in in{sizeof in, static_cast<uint32_t>(given.size()), nullptr, given.data(), {nullptr, 0}, {nullptr, 0}};
        hbf_instance *instance = nullptr;
        EXPECT_EQ(plugin.create(&in, &instance, nullptr), HBF_OK);
        const auto &queues = *static_cast<const hbf_queue_ext *>(plugin.get_extension(instance, {HBF_EXT_QUEUE, 11}));
        hbf_queue_desc desc{};
        desc.struct_size = sizeof desc;
        hbf_queue *queue = nullptr;
        EXPECT_EQ(queues.create(instance, &desc, &queue, nullptr), HBF_OK);
        std::vector<double> times;
        for (int round = 0; round < 200; ++round) {
            const auto begin = std::chrono::steady_clock::now();
            for (int i = 0; i < 20; ++i) {
                const hbf_batch batch{sizeof batch, sizeof(hbf_command), nullptr, 0};
                uint64_t value = 0;
                hbf_progress progress{};
                progress.struct_size = sizeof progress;
                queues.submit(queue, &batch, &value, nullptr);
                queues.wait(queue, value, UINT64_MAX, nullptr);
                queues.poll(queue, &progress);
            }
            times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / 60);
        }
        plugin.destroy(instance);
        std::nth_element(times.begin(), times.begin() + 20, times.end()); // the quiet ones
        return times[20];
    };
    const double direct = cost_of(open_directly(host_plugin_path()), {});
    const double wrapped = cost_of(wrapper(), {{"inject.plugin", host_plugin_path()}});
    RecordProperty("ns_per_call_added", static_cast<int>(wrapped - direct));
    std::printf("a call: %.0f ns directly, %.0f ns through the wrapper\n", direct, wrapped);
    EXPECT_LT(wrapped - direct, 1000);
}

} // namespace
} // namespace hbf::inject::testing
