// SPDX-License-Identifier: Apache-2.0
// The edge: no exception leaves, every failure gets a status and a message in the host's buffer.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "hbf/abi/basic.h"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::sdk::shell {

// Writes as much of `message` as fits, NUL included, cut between UTF-8 characters, and its full length.
inline void write_error(hbf_error *error, std::string_view message, hbf_region region = 0,
                        uint64_t offset = HBF_NO_PLACE) noexcept {
    if (!error || error->struct_size < HBF_ERROR_MIN_SIZE) return;
    if (error->message && error->capacity > 0) {
        const size_t kept = cut(message, error->capacity - 1);
        if (kept > 0) std::memcpy(error->message, message.data(), kept);
        error->message[kept] = '\0';
    }
    error->length = message.size();
    if (HBF_HAS_FIELD(hbf_error, error, region)) error->region = region;
    if (HBF_HAS_FIELD(hbf_error, error, offset)) error->offset = offset;
}

// Refuses without an exception, so that a refusal costs nothing.
[[nodiscard]] inline hbf_status refuse(hbf_error *error, hbf_status status, std::string_view message) noexcept {
    write_error(error, message);
    return status;
}

// An error never becomes success: a Failure that says HBF_OK, or something unheard of, is a bug of the plugin.
inline hbf_status failed_status(hbf_status status) noexcept {
    return status > HBF_OK && status <= HBF_INTERNAL ? status : HBF_INTERNAL;
}

// In a catch block: what the exception is to the host.
[[gnu::cold, gnu::noinline]] inline hbf_status caught(hbf_error *error) noexcept {
    try {
        throw;
    } catch (const Failure &failure) {
        write_error(error, failure.message, failure.region, failure.offset);
        return failed_status(failure.status);
    } catch (const std::bad_alloc &) {
        write_error(error, "out of memory");
        return HBF_EXHAUSTED;
    } catch (const std::exception &exception) {
        const char *what = exception.what();
        write_error(error, what ? what : "exception without a message");
        return HBF_INTERNAL;
    } catch (...) {
        write_error(error, "exception of a type unknown to the SDK");
        return HBF_INTERNAL;
    }
}

// Runs `body`, which returns a status (refused) or throws.
template <class Body>
hbf_status guard(hbf_error *error, Body &&body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (...) {
        return caught(error);
    }
}

} // namespace hbf::sdk::shell
