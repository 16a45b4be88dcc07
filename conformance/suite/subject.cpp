// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/subject.hpp"

#include <algorithm>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

#include "conformance/suite/context.hpp"
#include "conformance/suite/guarded.hpp"
#include "conformance/suite/whose_code.hpp"
#include "core/host/root.hpp"
#include "core/loader/bind.hpp"

namespace hbf::conformance {

struct Subject::LogSink {
    static constexpr size_t most_lines = 1000, most_bytes = 4096;
    std::mutex mutex;
    PluginLog log;

    static void take(void *context, hbf_log_level level, hbf_string message) noexcept {
        auto *sink = static_cast<LogSink *>(context);
        const std::lock_guard lock(sink->mutex);
        if (sink->log.lines.size() >= most_lines) {
            ++sink->log.dropped;
            return;
        }
        const size_t size = std::min<uint64_t>(message.size, most_bytes);
        sink->log.lines.emplace_back(level, message.data ? std::string(message.data, size) : std::string());
    }
    static hbf_log_level level(void *) noexcept { return HBF_LOG_DEBUG; }
};

namespace {

std::vector<hbf_option> abi_of(const std::vector<std::pair<std::string, std::string>> &options) {
    std::vector<hbf_option> out;
    out.reserve(options.size());
    for (const auto &[key, value] : options) out.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
    return out;
}

} // namespace

Subject::Subject(SubjectOptions options)
    : options_(std::move(options)), root_(host::machine_root({}).string()), sink_(std::make_unique<LogSink>()) {
    services_.struct_size = sizeof services_;
    services_.context = sink_.get();
    services_.log = &LogSink::take;
    services_.log_level = &LogSink::level;
    static constexpr std::string_view name = "hbf-case";
    host_.struct_size = sizeof host_;
    host_.abi_min = loader::host_abi_min;
    host_.sanitizer = loader::host_sanitizer();
    host_.name = {name.data(), name.size()};
    host_.version = {HBF_SUITE_VERSION, sizeof HBF_SUITE_VERSION - 1};
    abi_options_ = abi_of(options_.options);

    const std::string trouble = open();
    no_driver_yet(); // what is opened from here on is the plugin's doing
    if (!trouble.empty()) fail(fmt::format("{}: {}", options_.plugin_file, trouble));
}

std::string Subject::open() {
    handle_ = dlopen(options_.plugin_file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
        const char *message = dlerror();
        return std::string("cannot be opened: ") + (message ? message : "no reason given");
    }
    const auto entry = loader::entry_of(handle_);
    if (!entry) return entry.error().detail;
    query_ = *entry;
    // The suite asks as a host does; the name is not known beforehand, so the table's own is the expected one.
    const hbf_plugin *table = query_(loader::host_abi_max, &host_);
    if (!table) return "hbf_plugin_query returns NULL";
    if (table->struct_size < HBF_PLUGIN_MIN_SIZE || !table->name)
        return fmt::format("the base table has no name or is {} bytes, less than {}", table->struct_size,
                           HBF_PLUGIN_MIN_SIZE);
    const auto checked = loader::query_table(query_, table->name);
    if (!checked) return checked.error().detail;
    plugin_ = *checked;
    const hbf_plugin *const newest = query_(UINT32_MAX, &host_);
    if (newest && newest->abi_version > loader::host_abi_max) tail_known = sizeof(Extended<hbf_error>::tail) / 2;
    return {};
}

Subject::~Subject() {
    instance_.reset();
}

std::pair<Call, std::vector<hbf_device_info>> Subject::probe() {
    std::vector<hbf_device_info> devices(8);
    for (;;) {
        for (hbf_device_info &device : devices) {
            device = {};
            device.struct_size = sizeof device;
        }
        hbf_probe_in in{};
        in.struct_size = sizeof in;
        in.option_count = static_cast<uint32_t>(abi_options_.size());
        in.services = &services_;
        in.options = abi_options_.empty() ? nullptr : abi_options_.data();
        in.system_root = {root_.data(), root_.size()};
        hbf_probe_out out{};
        out.struct_size = sizeof out;
        out.device_capacity = static_cast<uint32_t>(devices.size());
        out.devices = devices.data();
        out.device_stride = sizeof(hbf_device_info);
        ErrorBuffer error;
        const Call call = error.call(plugin_->probe(&in, &out, error));
        if (!call.ok()) return {call, {}};
        if (out.device_count > devices.size() && out.device_count <= 4096) {
            devices.resize(out.device_count);
            continue;
        }
        devices.resize(std::min<size_t>(out.device_count, devices.size()));
        return {call, std::move(devices)};
    }
}

hbf_device_info Subject::must_probe() {
    const auto [call, devices] = probe();
    must(call, "probe");
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const hbf_device_info &device) {
        return options_.device_id.empty() || options_.device_id == device.id;
    });
    if (found == devices.end())
        fail(devices.empty() ? "probe reports no device and HBF_OK"
                             : fmt::format("probe reports no device '{}'", options_.device_id));
    return *found;
}

Call Subject::create(hbf_instance *&out, const std::vector<std::pair<std::string, std::string>> &extra) {
    auto options = options_.options;
    options.insert(options.end(), extra.begin(), extra.end());
    const auto abi = abi_of(options);
    hbf_create_in in{};
    in.struct_size = sizeof in;
    in.option_count = static_cast<uint32_t>(abi.size());
    in.services = &services_;
    in.options = abi.empty() ? nullptr : abi.data();
    in.device_id = {options_.device_id.data(), options_.device_id.size()};
    in.system_root = {root_.data(), root_.size()};
    ErrorBuffer error;
    out = nullptr;
    return error.call(plugin_->create(&in, &out, error));
}

std::unique_ptr<Instance> Subject::must_create(const std::vector<std::pair<std::string, std::string>> &extra) {
    hbf_instance *handle = nullptr;
    must(create(handle, extra), "create"); // no instance has no tables: that is found there
    return std::make_unique<Instance>(*this, handle);
}

Instance &Subject::instance() {
    if (!instance_) instance_ = must_create();
    return *instance_;
}

void Subject::destroy_instance() {
    instance_.reset();
}

PluginLog Subject::log() const {
    const std::lock_guard lock(sink_->mutex);
    return sink_->log;
}

} // namespace hbf::conformance
