// SPDX-License-Identifier: Apache-2.0
// Which makers' devices the doctor knows by number, and what their kernel drivers show without any vendor's program. A new
// maker is a new row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hbf::tools::doctor {

struct Vendor {
    std::string_view name;
    uint16_t pci;                 // vendor number
    bool display_is_accelerator;  // its graphics cards compute too (class 0300)
    std::string_view driver_file; // where its kernel driver says its version, "" nowhere
    std::string_view soname; // its user-space library's file, up to the version: must be the driver's; "" not bound to it
    std::string_view links;  // what joins its devices: "NVLink"
    std::string_view links_tell; // the command that shows whether all of them are up
    std::string_view ecc_tell, partition_tell;
};
std::span<const Vendor> vendors();
const Vendor *vendor_of(uint16_t pci);

// Something of which the version may be known to be bad.
struct Component {
    std::string_view id;                   // "nvidia-open": what known_bad.toml calls it
    std::string_view what;                 // driver, runtime
    uint16_t vendor;                       // looked for where such a device is; 0: on every machine
    std::string_view folder, starts, file; // FOLDER/STARTS*/FILE; starts "": FOLDER/FILE
    std::string_view line, after; // the version follows `after` in the line that has `line` in it; both "": first line
};
std::span<const Component> components();

// A variable that steers a vendor's runtime: what a program counts as device 0, or how memory behaves, depends on it.
struct Variable {
    std::string_view name;
    uint16_t vendor;
    bool hides; // it leaves devices out or numbers them anew
    std::string_view effect;
};
std::span<const Variable> variables();

} // namespace hbf::tools::doctor
