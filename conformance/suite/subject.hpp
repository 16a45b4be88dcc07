// SPDX-License-Identifier: Apache-2.0
// The plugin under test, at the level of its C tables: thin, so that the suite sees what the plugin does and not what a
// layer above makes of it. A `must_` form fails the case, with the plugin's own message, when the call does not succeed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suite/device.hpp"
#include "hbf/abi.h"

namespace hbf::conformance {

// A second device, for the cases between two.
struct PeerOptions {
    std::string plugin_file = {};                                  // absolute path; "": there is none
    std::string device_id = {};                                    // "": the first one that probe reports
    std::vector<std::pair<std::string, std::string>> options = {}; // for probe and create
};

struct SubjectOptions {
    std::string plugin_file;                                       // absolute path of the plugin
    std::string device_id;                                         // "": the first one that probe reports
    std::vector<std::pair<std::string, std::string>> options = {}; // for probe and create
    uint32_t mask = 0; // need::maskable bits that the suite pretends the plugin does not declare
    PeerOptions peer = {};
};

// The host's side of the log: lines the plugin sent, kept up to a bound.
struct PluginLog {
    std::vector<std::pair<hbf_log_level, std::string>> lines;
    uint64_t dropped = 0;
};

class Subject {
public:
    explicit Subject(SubjectOptions options); // opens the library and queries; fails the case if that fails
    ~Subject();                               // destroys instance()
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;

    const SubjectOptions &options() const { return options_; }
    void *handle() const { return handle_; } // dlopen handle, never closed
    hbf_plugin_query_fn query() const { return query_; }
    const hbf_plugin &plugin() const { return *plugin_; }
    const hbf_host_info &host_info() const { return host_; }
    const hbf_host_services &services() const { return services_; }

    // An ABI string of the options given on the command line, alive as long as the subject.
    const std::vector<hbf_option> &abi_options() const { return abi_options_; }

    std::pair<Call, std::vector<hbf_device_info>> probe();
    hbf_device_info must_probe(); // the device under test: device_id, or the first

    Instance &instance(); // created at first use
    bool created() const { return instance_ != nullptr; }
    void destroy_instance();
    // A further one. `extra` options come after those of the command line.
    std::unique_ptr<Instance> must_create(const std::vector<std::pair<std::string, std::string>> &extra = {});
    Call create(hbf_instance *&out, const std::vector<std::pair<std::string, std::string>> &extra = {});

    PluginLog log() const; // what the plugin sent so far

private:
    struct LogSink;
    std::string open(); // "" or why the plugin cannot be used
    SubjectOptions options_;
    std::string root_; // of an emulated machine (`hbf emulate`); "": this one
    std::unique_ptr<LogSink> sink_;
    hbf_host_services services_{};
    hbf_host_info host_{};
    std::vector<hbf_option> abi_options_;
    void *handle_ = nullptr;
    hbf_plugin_query_fn query_ = nullptr;
    const hbf_plugin *plugin_ = nullptr;
    std::unique_ptr<Instance> instance_;
};

} // namespace hbf::conformance
