// SPDX-License-Identifier: Apache-2.0
// Structs that are taken to be as large as this version of the headers has them.
#include <cstring>

#include "conformance/inject/calls.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

uint32_t size_of(const void *sized) {
    uint32_t size;
    std::memcpy(&size, sized, sizeof size);
    return size;
}

class WritesPast final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status != HBF_OK || !call.out || !fires()) return;
        std::memset(static_cast<std::byte *>(call.out) + size_of(call.out), 0xee, settings().number("bytes"));
    }
};
HBF_FAULT(WritesPast, "writes-past-struct-size", "an output struct is written beyond the size that the host gave",
          parameter::call, {.key = "bytes", .preset = "8", .line = "how far beyond"});

class WritesSize final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status == HBF_OK && call.out && fires()) std::memcpy(call.out, &call.known_size, sizeof call.known_size);
    }
};
HBF_FAULT(WritesSize, "writes-struct-size", "an output struct's struct_size is set to the plugin's own", parameter::call);

// What lies beyond is taken for a field that must be 0, so that it shows also where it can be read.
class ReadsPast final : public CallFault {
public:
    using CallFault::CallFault;

    hbf_status before(const CallResult &call) override {
        if (!call.in || !fires()) return HBF_OK;
        const auto *beyond = static_cast<const volatile unsigned char *>(call.in) + size_of(call.in);
        unsigned char seen = 0;
        for (uint64_t i = 0; i < settings().number("bytes"); ++i) seen |= beyond[i];
        if (seen == 0) return HBF_OK;
        return sdk::shell::refuse(call.error, HBF_INVALID, "a field of the struct that must be 0 is not");
    }
};
HBF_FAULT(ReadsPast, "reads-past-struct-size", "an input struct is read beyond the size that the host gave", parameter::call,
          {.key = "bytes", .preset = "8", .line = "how far beyond"});

class ExactSize final : public CallFault {
public:
    using CallFault::CallFault;

    hbf_status before(const CallResult &call) override {
        const bool out = call.out && size_of(call.out) != call.known_size;
        const bool in = call.in && size_of(call.in) != call.in_known_size;
        if ((!out && !in) || !fires()) return HBF_OK;
        return sdk::shell::refuse(call.error, HBF_INVALID, "a struct is not of the size that it has here");
    }
};
HBF_FAULT(ExactSize, "exact-struct-size", "a struct that is larger than this version's is refused", parameter::call);

} // namespace
} // namespace hbf::inject
