// SPDX-License-Identifier: Apache-2.0
// The test plugin, opened with dlopen as a host opens it, and helpers to call it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hbf/abi.h"

namespace sdk_test {

// What anyone in the process can see, before and after the library's constructors ran.
struct Visible {
    std::vector<std::string> threads, files, environment, signals;
    std::string directory, locale;
    int rounding = 0;
    bool operator==(const Visible &) const = default;
};
Visible look();

struct Loaded {
    hbf_plugin_query_fn query = nullptr;
    Visible before, after;
    std::string printed; // to stdout and stderr while it was opened
};
const Loaded &loaded(); // opens HBF_SDK_TEST_PLUGIN at first use, never closes it
const hbf_plugin &plugin();
size_t
fields_ahead(); // bytes at the end of each sized struct that the plugin knows and this test does not: of newer headers

hbf_host_info host_info();
inline hbf_string text(const std::string &from) {
    return {from.data(), from.size()};
}
inline hbf_string text(const char *literal) {
    return {literal, std::char_traits<char>::length(literal)};
}
hbf_string text(std::string &&) = delete; // nobody would keep it

// An error buffer that remembers what it was.
struct Error {
    char buffer[256] = "untouched";
    hbf_error raw = {sizeof(hbf_error), 0, buffer, sizeof buffer, 9, 0, HBF_NO_PLACE};
    std::string message() const { return buffer; }
    operator hbf_error *() { return &raw; }
};

using OptionList = std::vector<std::pair<std::string, std::string>>;

// A created instance; destroyed at the end. Its log lines are in `log`.
struct Device {
    explicit Device(OptionList options = {}, const std::string &id = "test0");
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    template <class Ext>
    const Ext *extension(const char *id) const {
        return static_cast<const Ext *>(plugin().get_extension(instance, text(id)));
    }
    const hbf_tier_ext &tier() const { return *extension<hbf_tier_ext>(HBF_EXT_TIER); }
    const hbf_queue_ext &queues() const { return *extension<hbf_queue_ext>(HBF_EXT_QUEUE); }
    hbf_queue *queue() const; // a new one
    void destroy();

    hbf_status status = HBF_OK; // of create
    Error error;
    hbf_instance *instance = nullptr;
    std::vector<std::string> log;
    hbf_host_services services;
};

// Memory that ends where an unreadable page begins: T in its first `size` bytes, one byte past them traps.
template <class T>
class AtPageEnd;

void *map_before_trap(size_t size);
void unmap_before_trap(void *at, size_t size);

template <class T>
class AtPageEnd {
public:
    explicit AtPageEnd(size_t size) : size_(size), at_(static_cast<T *>(map_before_trap(size))) {
        at_->struct_size = static_cast<uint32_t>(size);
    }
    ~AtPageEnd() { unmap_before_trap(at_, size_); }
    AtPageEnd(const AtPageEnd &) = delete;
    AtPageEnd &operator=(const AtPageEnd &) = delete;
    T *operator->() { return at_; }
    T *get() { return at_; }

private:
    size_t size_;
    T *at_;
};

// A struct as a later version would have it: with a tail this SDK has never heard of, but for what a plugin built with newer
// headers knows of it.
template <class T>
struct WithTail {
    T known{};
    unsigned char tail[64];

    WithTail() {
        for (unsigned char &byte : tail) byte = 0xa5;
        known.struct_size = sizeof(WithTail);
    }
    bool tail_untouched() const {
        for (size_t i = fields_ahead(); i < sizeof tail; ++i)
            if (tail[i] != 0xa5) return false;
        return known.struct_size == sizeof(WithTail);
    }
};

} // namespace sdk_test
