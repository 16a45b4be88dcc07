// SPDX-License-Identifier: Apache-2.0
// AMD's libraries on this machine: opened when they are asked for, never linked, never closed.
//
//     const Hip &hip = library().hip;
//     hip.GetDeviceCount(&count);
#pragma once

#include <string>

#include "plugins/amd/api.hpp"

namespace hbf::amd {

struct Hip {
    HBF_HIP_FUNCTIONS(HBF_AMD_MEMBER)
    HBF_HIP_OPTIONAL_FUNCTIONS(HBF_AMD_MEMBER)
};
struct HipRtc {
    HBF_HIPRTC_FUNCTIONS(HBF_AMD_MEMBER)
};
struct Smi {
    HBF_SMI_FUNCTIONS(HBF_AMD_MEMBER)
    HBF_SMI_OPTIONAL_FUNCTIONS(HBF_AMD_MEMBER)
};

struct Library {
    Hip hip;
    std::string name; // "libamdhip64.so.6"
    int major = 0;    // of that name; 0: it has none
    void *handle = nullptr;
};

// Throws sdk::Failure: UNAVAILABLE with driver_absent or driver_stub, UNSUPPORTED with driver_too_old.
const Library &library();

// Whether a HIP runtime is in this process already, because this plugin or somebody else has opened it.
bool library_is_here();

// nullptr where there is none, with the reason in `why`. The run-time compiler lies beside the runtime, in older releases in
// it. SMI is started.
const HipRtc *compiler(std::string &why);
const Smi *smi(std::string &why);

// A version that hipRuntimeGetVersion gives, 60342134, as people write it: "6.3.42134".
std::string version_text(int version);
// Throws UNSUPPORTED where it is no HIP that this plugin knows, or not the one that the library's name says.
void check_version(int runtime, const Library &from);

} // namespace hbf::amd
