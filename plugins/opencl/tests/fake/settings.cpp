// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

#include <fcntl.h>
#include <unistd.h>

#include "plugins/opencl/tests/fake/fake.hpp"

namespace hbf::opencl::fake {
namespace {

// Calls `with` for each part, until it answers true.
template <class With>
bool each_part(std::string_view text, char between, const With &with) {
    while (!text.empty()) {
        const size_t end = std::min(text.find(between), text.size());
        if (with(text.substr(0, end))) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

} // namespace

std::string setting(std::string_view name, const std::string &otherwise) {
    const char *const all = std::getenv("HBF_FAKE_OPENCL");
    std::string found = otherwise;
    each_part(all ? all : "", ';', [&](std::string_view word) {
        const size_t equals = word.find('=');
        if (word.substr(0, equals) != name || equals == std::string_view::npos) return false;
        found = std::string(word.substr(equals + 1));
        return true;
    });
    return found;
}

uint64_t number(std::string_view name, uint64_t otherwise) {
    const std::string text = setting(name);
    return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

cl_int wanted(std::string_view function) {
    static std::mutex mutex;
    static auto *const counts = new std::map<std::string, uint64_t, std::less<>>;
    if (setting("die") == function) std::raise(SIGSEGV);
    cl_int code = CL_SUCCESS;
    each_part(setting("fail"), ',', [&](std::string_view word) {
        const size_t first = word.find(':');
        if (word.substr(0, first) != function) return false;
        const std::string rest(word.substr(first + 1));
        char *end = nullptr;
        const long wanted_code = std::strtol(rest.c_str(), &end, 10);
        const uint64_t from = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 1;
        std::lock_guard lock(mutex);
        if (++(*counts)[std::string(word)] >= from) code = static_cast<cl_int>(wanted_code);
        return true;
    });
    return code;
}

void trace(const std::string &line) {
    const std::string file = setting("trace");
    if (file.empty()) return;
    const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const std::string text = line + "\n";
    if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
    close(fd);
}

size_t traced(std::string_view line) {
    std::ifstream file(setting("trace"));
    size_t count = 0;
    for (std::string one; std::getline(file, one);) count += one == line ? 1 : 0;
    return count;
}

std::atomic<int64_t> &alive() noexcept {
    static std::atomic<int64_t> count{0};
    return count;
}

std::atomic<Meter> &Own::meter() noexcept {
    static std::atomic<Meter> meter{nullptr};
    return meter;
}
uint64_t &Own::total() noexcept {
    thread_local uint64_t total = 0;
    return total;
}

} // namespace hbf::opencl::fake

// For tests that are linked with this library.
extern "C" __attribute__((visibility("default"))) int64_t hbf_fake_opencl_alive(void) {
    return hbf::opencl::fake::alive();
}
extern "C" __attribute__((visibility("default"))) void hbf_fake_opencl_meter(uint64_t (*meter)(void) noexcept) {
    hbf::opencl::fake::Own::meter() = meter;
}
extern "C" __attribute__((visibility("default"))) uint64_t hbf_fake_opencl_own(void) {
    return hbf::opencl::fake::Own::total();
}
