// SPDX-License-Identifier: Apache-2.0
// The wrapper's own options out of the host's, and what is left for the plugin.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hbf/abi/plugin.h"

namespace hbf::inject {

// `inject.plugin`: absolute path of the plugin. `inject.fault`: see make_faults; where it is given more than once, a later
// one lies nearer the device, so that a caller adds faults below those it was given. `inject.inner.X` becomes `inject.X`,
// for a wrapper in a wrapper. All else is the plugin's.
struct Options {
    std::string plugin, faults;
    std::vector<hbf_option> rest; // keys and values still the host's memory

    // Throws sdk::Failure INVALID.
    Options(const hbf_option *options, uint32_t count);
    Options(const Options &) = delete;
    Options &operator=(const Options &) = delete;

private:
    std::deque<std::string> inner_keys_; // what keys in `rest` point to
};

// A probe_in or create_in as the host wrote it, to its full struct_size, but with `rest` as its options.
template <class In>
class WithOptions {
public:
    WithOptions(const In &in, const std::vector<hbf_option> &rest)
        : words_((in.struct_size + sizeof(uint64_t) - 1) / sizeof(uint64_t)) {
        __builtin_memcpy(words_.data(), &in, in.struct_size);
        get()->option_count = static_cast<uint32_t>(rest.size());
        get()->options = rest.empty() ? nullptr : rest.data();
    }
    In *get() { return reinterpret_cast<In *>(words_.data()); }

private:
    std::vector<uint64_t> words_;
};

} // namespace hbf::inject
