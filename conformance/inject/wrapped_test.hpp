// SPDX-License-Identifier: Apache-2.0
// A real plugin through the wrapper, as a host calls it: fixture of the tests here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hbf/abi.h"

namespace hbf::inject::testing {

// A fault that changes bytes from a thread of its own races with whoever reads them: that is its purpose, and a report.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

using OptionList = std::vector<std::pair<std::string, std::string>>;

struct Answer {
    hbf_status status = HBF_OK;
    std::string message;
    uint64_t region = 0, offset = HBF_NO_PLACE;
};

const hbf_plugin &wrapper();    // hbf_plugin_inject.so, opened at first use
std::string host_plugin_path(); // the plugin that is wrapped here
std::string test_plugin_path(); // the SDK's, that fails where it is told to

// Memory of the host plugin, 64 MiB each of DRAM and HBF unless `more` says otherwise, wrapped with `fault`.
class Wrapped {
public:
    explicit Wrapped(const std::string &fault, const OptionList &more = {});
    ~Wrapped();
    Wrapped(const Wrapped &) = delete;
    Wrapped &operator=(const Wrapped &) = delete;

    Answer answer; // of create
    hbf_instance *instance = nullptr;
    const hbf_tier_ext *tier = nullptr;
    const hbf_queue_ext *queue = nullptr;
    std::vector<std::string> log;

    template <class Ext>
    const Ext *extension(std::string_view id) const {
        return static_cast<const Ext *>(wrapper().get_extension(instance, {id.data(), id.size()}));
    }
    hbf_region_info alloc(uint64_t size, uint32_t tier = 0); // filled with 0
    Answer free(hbf_region region);
    hbf_queue *make_queue();
    Answer submit(hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t &value);
    Answer wait(hbf_queue *queue, uint64_t value, uint64_t timeout_ns = 10'000'000'000);
    hbf_progress poll(hbf_queue *queue);
    Answer failure(hbf_queue *queue);
    Answer run(hbf_queue *queue, const std::vector<hbf_command> &commands); // submits, waits; why the value failed
    void destroy();

private:
    hbf_host_services services_{};
};

hbf_command copy(const hbf_region_info &dst, uint64_t dst_offset, const hbf_region_info &src, uint64_t src_offset,
                 uint64_t size);
hbf_command fill(const hbf_region_info &dst, uint64_t offset, uint64_t size, uint8_t byte);
inline unsigned char *bytes(const hbf_region_info &region) {
    return static_cast<unsigned char *>(region.address);
}
void count_up(const hbf_region_info &region); // byte i is a hash of i

} // namespace hbf::inject::testing
