// SPDX-License-Identifier: Apache-2.0
// A machine as data, read from TOML: conformance/sim/profiles/NAME.toml, installed under share/hbf/profiles. The first lines
// of profiles/h100.toml explain every key. What is emulated is what the file says, nothing of it is ever the host's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/sim/model/export.hpp"
#include "hbf/status.hpp"

namespace hbf::model {

// Who keeps the copies that an agent has of a line in step with the line's home.
enum class Coherence : uint8_t {
    hardware, // always: an agent sees what another wrote
    boundary, // a device fetches before and writes back after each operation of its own, not during it
    software, // nothing moves until write_back() or invalidate()
};

// What a device may do with another's memory.
enum class PeerAccess : uint8_t {
    none,  // it is said that it cannot, and it cannot
    works, // as said
    drops, // it is said that it can; what is written goes nowhere and no error comes, what is read is 0xff
};

enum class Timing : uint8_t {
    none,  // an operation takes what it takes: the suites run fast
    links, // and never less than latency and bandwidth of its link ask for
    free,  // nothing is moved and everything is over when it is submitted, for measuring what lies above
    // The machine has a clock of its own, which looking and waiting move, and no threads: operations take what links ask for
    // on that clock and no time here. From one thread of the program, a seed always gives the same run.
    virtual_time,
};

std::optional<Timing> timing_named(std::string_view word) noexcept; // "links"

struct ProfileNode {
    int id = 0;
    std::string cpus; // "0-55"; "": none, memory only
    uint64_t memory = 0;
    std::string distances; // as sysfs has it: "10 21"; "": made up from ids
    uint64_t bandwidth = 0;
    uint32_t latency_ns = 0;
    bool cxl = false; // an expander's memory
};

struct ProfileHost {
    std::string cpu;     // model name
    uint64_t memory = 0; // bytes that can be pinned; of all nodes without cxl
    std::string iommu;   // "off" | "pt" | "translated"
    bool acs_redirect = false;
    std::vector<ProfileNode> nodes;
};

struct ProfileDevice {
    std::string name;        // "NVIDIA H100 80GB HBM3", without " (emulated)"
    std::string vendor;      // "nvidia" | "amd" | "cambricon" | "level_zero" | "generic": who of the emulators shows it
    std::string pci;         // "0000:1b:00.0"
    uint16_t pci_vendor = 0; // 0x10de
    uint16_t pci_device = 0;
    std::string pci_class;          // "0x030200"
    std::string driver;             // kernel driver: "nvidia", "amdgpu"
    std::vector<std::string> nodes; // device nodes: "/dev/nvidia0"
    std::string uuid;               // 32 hex digits
    uint64_t memory = 0;            // bytes
    uint64_t reserved = 0;          // bytes of it that the driver keeps: never free
    int numa = 0;                   // node that it hangs at
    int memory_node = -1;           // its memory is this NUMA node, too (GH200); -1: it is not
    uint32_t copy_engines = 2;
    uint32_t compute_units = 1;
    uint32_t line = 128; // bytes: of its caches
    uint32_t warp = 32;  // work-items that go together
    uint32_t max_group_size = 1024;
    uint32_t allocation_granularity = 2 << 20;           // bytes: of physical memory that is mapped by hand
    std::string architecture;                            // "sm_90", "gfx942", "MLU370"
    Coherence host_access = Coherence::hardware;         // how it really sees host memory that runtimes pin
    Coherence host_access_claimed = Coherence::hardware; // what its attributes say: differs where a machine lies
    bool cpu_access = false;                             // the CPU loads and stores its memory, coherently (GH200)
    bool pageable_access = false;             // its kernels reach all memory of the process, pinned or not (GH200)
    std::map<int64_t, int64_t> attributes;    // [device.attributes]: vendor attribute number -> value
    std::map<std::string, std::string> texts; // [device.texts]: whatever an emulator wants spelt out
    std::map<std::string, uint64_t> counters; // [device.counters]: health counters at the start (device.hpp)
};

struct ProfileLink {
    std::string a, b;       // agents: "host", "node1", "device0", "cxl0"
    std::string kind;       // "pcie" "nvlink" "c2c" "xgmi" "mlulink" "xelink" "cxl"
    uint64_t bandwidth = 0; // bytes/s one way, as the link is now; 0: not shaped
    uint32_t latency_ns = 0;
    uint32_t generation = 0, max_generation = 0;
    uint32_t width = 0, max_width = 0; // PCIe lanes
    uint32_t lanes = 1;                // links of this kind between the two: 18 NVLinks
    bool up = true;
    PeerAccess peer = PeerAccess::none; // between devices
};

struct Profile {
    std::string name;   // "h100x4"
    std::string file;   // it was read from
    std::string title;  // "four H100 SXM on NVSwitch"
    std::string source; // where the figures come from
    Timing timing = Timing::none;
    ProfileHost host;
    std::vector<ProfileDevice> devices;
    std::vector<ProfileLink> links;
    std::map<std::string, std::map<std::string, std::string>> vendor; // [vendor.nvidia]: "driver_version" = "12080", ...

    // The value of [vendor.NAME] KEY, or `otherwise`.
    HBF_MODEL_API std::string vendor_text(const std::string &vendor_name, const std::string &key,
                                          const std::string &otherwise = "") const;
    HBF_MODEL_API int64_t vendor_number(const std::string &vendor_name, const std::string &key, int64_t otherwise) const;
    // The link between two agents, in either order; nullptr: none.
    HBF_MODEL_API const ProfileLink *link(std::string_view a, std::string_view b) const;
};

// INVALID with file, line, key, value and remedy for anything that a profile cannot say; unknown keys are errors.
HBF_MODEL_API Result<Profile> parse_profile(std::string_view text, const std::string &file);
// By path (anything with a '/' or ".toml"), or by name: looked for in HBF_EMULATE_PROFILES (folders, ':' between them), then
// in profiles/ and share/hbf/profiles/ beside and above the folder of this library. The error names the known ones.
HBF_MODEL_API Result<Profile> load_profile(const std::string &path_or_name);
HBF_MODEL_API std::vector<std::string> profile_folders(); // those of the search that exist

} // namespace hbf::model
