// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "conformance/emulators/cambricon/driver/driver.hpp"

namespace hbf::emulated::cn {
namespace {

constexpr struct {
    CNresult code;
    const char *name, *words;
} table[] = {
    {SUCCESS, "CN_SUCCESS", "no error"},
    {NOT_READY, "CN_ERROR_NOT_READY", "not finished yet"},
    {NOT_INITIALIZED, "CN_ERROR_NOT_INITIALIZED", "cnInit has not been called, or failed"},
    {NO_DEVICE, "CN_ERROR_NO_DEVICE", "no device"},
    {INVALID_DEVICE, "CN_ERROR_INVALID_DEVICE", "no such device"},
    {INVALID_VALUE, "CN_ERROR_INVALID_VALUE", "an argument is not valid"},
    {OPERATING_SYSTEM, "CN_OPS_ERROR_OPERATING_SYSTEM", "the operating system refused"},
    {SYSTEM_OUT_OF_MEMORY, "CN_ERROR_SYSTEM_OUT_OF_MEMORY", "no host memory"},
    {INVALID_ADDRESS, "CN_ERROR_INVALID_ADDRESS", "nothing lies at the address"},
    {INVALID_HANDLE, "CN_ERROR_INVALID_HANDLE", "no such handle"},
    {ILLEGAL_STATE, "CN_ERROR_ILLEGAL_STATE", "not in this state"},
    {ECC_UNCORRECTABLE, "CN_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error"},
    {NOT_SUPPORTED, "CN_ERROR_NOT_SUPPORTED", "not supported"},
    {NOT_PERMITTED, "CN_ERROR_NOT_PERMITTED", "not permitted"},
    {QUEUE_ERROR, "CN_QUEUE_ERROR", "a task of the queue failed"},
    {MEMORY_OUT_OF_MEMORY, "CN_MEMORY_ERROR_OUT_OF_MEMORY", "no device memory"},
    {ILLEGAL_ADDRESS, "CN_ERROR_ILLEGAL_ADDRESS", "a task met an illegal address"},
    {INVOKE_ERROR, "CN_INVOKE_ERROR", "a kernel failed"},
    {CONTEXT_INVALID, "CN_CONTEXT_ERROR_INVALID", "no context, or another's"},
    {UNKNOWN, "CN_ERROR_UNKNOWN", "unknown error"},
};

} // namespace

const char *name_of(CNresult result) noexcept {
    for (const auto &line : table)
        if (line.code == result) return line.name;
    return nullptr;
}

const char *words_of(CNresult result) noexcept {
    for (const auto &line : table)
        if (line.code == result) return line.words;
    return nullptr;
}

CNresult code(model::Outcome outcome) noexcept {
    using model::Outcome;
    switch (outcome) {
    case Outcome::ok:
        return SUCCESS;
    case Outcome::pending:
        return NOT_READY;
    case Outcome::invalid:
        return INVALID_VALUE;
    case Outcome::no_memory:
        return MEMORY_OUT_OF_MEMORY;
    case Outcome::unknown_address:
    case Outcome::out_of_range:
    case Outcome::no_access:
        return ILLEGAL_ADDRESS;
    case Outcome::uncorrectable:
        return ECC_UNCORRECTABLE;
    case Outcome::launch_failed:
        return INVOKE_ERROR;
    case Outcome::unsupported:
        return NOT_SUPPORTED;
    case Outcome::busy:
        return ILLEGAL_STATE;
    case Outcome::lost:
        return OPERATING_SYSTEM; // the kernel's driver answers no more
    case Outcome::link_error:
    case Outcome::failed:
        return QUEUE_ERROR;
    }
    return UNKNOWN;
}

CNresult refusal(model::Outcome outcome) noexcept {
    return outcome == model::Outcome::unknown_address || outcome == model::Outcome::out_of_range ||
                   outcome == model::Outcome::no_access
               ? INVALID_ADDRESS
               : code(outcome);
}

extern "C" {

// "CN_ERROR_INVALID_VALUE if error is no code", and the text is that of an unknown one.
CNresult cnGetErrorName(CNresult error, const char **text) {
    calls().count(static_cast<size_t>(Call::cnGetErrorName));
    if (!text) return INVALID_VALUE;
    *text = name_of(error);
    if (*text) return SUCCESS;
    *text = name_of(UNKNOWN);
    return INVALID_VALUE;
}

CNresult cnGetErrorString(CNresult error, const char **text) {
    calls().count(static_cast<size_t>(Call::cnGetErrorString));
    if (!text) return INVALID_VALUE;
    *text = words_of(error);
    if (*text) return SUCCESS;
    *text = words_of(UNKNOWN);
    return INVALID_VALUE;
}

} // extern "C"

} // namespace hbf::emulated::cn
