// SPDX-License-Identifier: Apache-2.0
// The suite's own files, found from where this installation or build tree lies.
#pragma once

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

namespace hbf::conformance {

// Of libhbf, which this program is linked with, without links; "" if it is not known.
std::filesystem::path library_folder();

// Absolute paths. The error names where the file should be and the remedy.
tl::expected<std::filesystem::path, std::string> case_program();     // LIBDIR/hbf/hbf-case
tl::expected<std::filesystem::path, std::string> inject_plugin();    // LIBDIR/hbf/conformance/hbf_plugin_inject.so
tl::expected<std::filesystem::path, std::string> simulated_device(); // LIBDIR/hbf/conformance/hbf_plugin_sim.so
tl::expected<std::filesystem::path, std::string> host_plugin();      // LIBDIR/hbf/plugins/hbf_plugin_host.so
tl::expected<std::filesystem::path, std::string> vendor_plugin(const std::string &vendor); // .../hbf_plugin_nvidia.so
// The folder with a vendor's libraries, emulated, and the driver that Level Zero's loader is to be told.
tl::expected<std::filesystem::path, std::string> emulated_runtime(const std::string &vendor);
tl::expected<std::filesystem::path, std::string> level_zero_driver();
// A plugin or program of conformance/mutants: in a build tree only, they are not installed.
tl::expected<std::filesystem::path, std::string> mutant_file(const std::string &name);

} // namespace hbf::conformance
