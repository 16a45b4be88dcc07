// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/wrapped_test.hpp"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>

// Some faults leak on purpose: to look for leaks at the end would find those.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
    return 1;
}

namespace hbf::inject::testing {
namespace {

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    if (!value) throw std::runtime_error(std::string(name) + " is not set: run this with meson test");
    return value;
}

// The caller's buffer for one call.
struct Buffer {
    char text[1024] = {};
    hbf_error error = {sizeof(hbf_error), 0, text, sizeof text, 0, 0, HBF_NO_PLACE};
    Answer answer(hbf_status status) const { return {status, text, error.region, error.offset}; }
};

void keep(void *context, hbf_log_level, hbf_string message) noexcept {
    static_cast<Wrapped *>(context)->log.emplace_back(message.data, message.size);
}
hbf_log_level everything(void *) noexcept {
    return HBF_LOG_DEBUG;
}

} // namespace

const hbf_plugin &wrapper() {
    static const hbf_plugin *table = [] {
        void *library = dlopen(variable("HBF_INJECT_LIBRARY").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(dlerror());
        hbf_host_info host{};
        host.struct_size = sizeof host;
        host.abi_min = HBF_ABI_VERSION;
        return reinterpret_cast<hbf_plugin_query_fn>(dlsym(library, HBF_PLUGIN_QUERY_SYMBOL))(HBF_ABI_VERSION, &host);
    }();
    return *table;
}

std::string host_plugin_path() {
    return variable("HBF_INJECT_HOST_PLUGIN");
}
std::string test_plugin_path() {
    return variable("HBF_SDK_TEST_PLUGIN");
}

Wrapped::Wrapped(const std::string &fault, const OptionList &more) {
    OptionList options = {{"inject.plugin", host_plugin_path()}};
    if (!fault.empty()) options.emplace_back("inject.fault", fault);
    for (const auto &[key, value] : more) {
        const bool replaces = key == "inject.plugin";
        replaces ? options[0].second = value : options.emplace_back(key, value).second;
    }
    if (options[0].second == host_plugin_path()) {
        options.emplace_back("dram_bytes", "64MiB");
        options.emplace_back("hbf_bytes", "64MiB");
    }
    std::vector<hbf_option> given;
    for (const auto &[key, value] : options) given.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
    services_ = {sizeof services_, 0, this, keep, everything};
    hbf_create_in in{sizeof in, static_cast<uint32_t>(given.size()), &services_, given.data(), {nullptr, 0}, {nullptr, 0}};
    Buffer buffer;
    answer = buffer.answer(wrapper().create(&in, &instance, &buffer.error));
    if (!instance) return;
    tier = extension<hbf_tier_ext>(HBF_EXT_TIER);
    queue = extension<hbf_queue_ext>(HBF_EXT_QUEUE);
}

Wrapped::~Wrapped() {
    destroy();
}

void Wrapped::destroy() {
    if (instance) wrapper().destroy(std::exchange(instance, nullptr));
}

hbf_region_info Wrapped::alloc(uint64_t size, uint32_t index) {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.tier = index;
    desc.size = size;
    hbf_region_info out{};
    out.struct_size = sizeof out;
    Buffer buffer;
    if (tier->alloc(instance, &desc, &out, &buffer.error) != HBF_OK) throw std::runtime_error(buffer.text);
    if (out.address) std::memset(out.address, 0, size);
    return out;
}

Answer Wrapped::free(hbf_region region) {
    Buffer buffer;
    return buffer.answer(tier->free(instance, region, &buffer.error));
}

hbf_queue *Wrapped::make_queue() {
    const hbf_queue_desc desc{sizeof desc, 0, 0, 0};
    hbf_queue *made = nullptr;
    Buffer buffer;
    if (queue->create(instance, &desc, &made, &buffer.error) != HBF_OK) throw std::runtime_error(buffer.text);
    return made;
}

Answer Wrapped::submit(hbf_queue *to, const std::vector<hbf_command> &commands, uint64_t &value) {
    const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
    Buffer buffer;
    return buffer.answer(queue->submit(to, &batch, &value, &buffer.error));
}

Answer Wrapped::wait(hbf_queue *on, uint64_t value, uint64_t timeout_ns) {
    Buffer buffer;
    return buffer.answer(queue->wait(on, value, timeout_ns, &buffer.error));
}

hbf_progress Wrapped::poll(hbf_queue *on) {
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    if (queue->poll(on, &progress) != HBF_OK) throw std::runtime_error("poll failed");
    return progress;
}

Answer Wrapped::failure(hbf_queue *of) {
    Buffer buffer;
    return buffer.answer(queue->failure(of, &buffer.error));
}

Answer Wrapped::run(hbf_queue *on, const std::vector<hbf_command> &commands) {
    uint64_t value = 0;
    if (Answer refused = submit(on, commands, value); refused.status != HBF_OK) return refused;
    if (Answer late = wait(on, value); late.status != HBF_OK) return late;
    const hbf_progress progress = poll(on);
    if (progress.failed == 0 || progress.failed > value) return {};
    Answer why = failure(on);
    why.status = progress.status;
    return why;
}

hbf_command copy(const hbf_region_info &dst, uint64_t dst_offset, const hbf_region_info &src, uint64_t src_offset,
                 uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {dst.region, dst_offset, src.region, src_offset, size, nullptr};
    return command;
}

hbf_command fill(const hbf_region_info &dst, uint64_t offset, uint64_t size, uint8_t byte) {
    hbf_command command{};
    command.kind = HBF_COMMAND_FILL;
    command.u.fill = {dst.region, offset, size, byte, 1, 0};
    return command;
}

void count_up(const hbf_region_info &region) {
    for (uint64_t i = 0; i < region.size; ++i) bytes(region)[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
}

} // namespace hbf::inject::testing
