// SPDX-License-Identifier: Apache-2.0
#include "plugin_under_test.hpp"

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

namespace sdk_test {
namespace {

std::vector<std::string> names(const char *folder) {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        std::error_code gone; // the descriptor of this very walk
        const auto target = std::filesystem::read_symlink(entry.path(), gone);
        if (target != std::string("/proc/") + std::to_string(getpid()) + "/fd")
            found.push_back(entry.path().filename().string() + " " + target.string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

Loaded open_plugin() {
    const char *path = std::getenv("HBF_SDK_TEST_PLUGIN");
    if (!path) throw std::runtime_error("HBF_SDK_TEST_PLUGIN names no plugin");
    Loaded loaded;
    std::fflush(nullptr);
    std::FILE *caught = std::tmpfile();
    const int out = dup(1), err = dup(2);
    dup2(fileno(caught), 1);
    dup2(fileno(caught), 2);
    loaded.before = look();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    loaded.after = look();
    std::fflush(nullptr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    std::rewind(caught);
    for (int c; (c = std::fgetc(caught)) != EOF;) loaded.printed += static_cast<char>(c);
    std::fclose(caught);
    if (!library) throw std::runtime_error(dlerror());
    loaded.query = reinterpret_cast<hbf_plugin_query_fn>(dlsym(library, HBF_PLUGIN_QUERY_SYMBOL));
    if (!loaded.query) throw std::runtime_error("no hbf_plugin_query");
    return loaded;
}

size_t page() {
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}
size_t pages_for(size_t size) {
    return (size + page() - 1) / page() * page();
}

void keep(void *context, hbf_log_level, hbf_string message) noexcept {
    static_cast<Device *>(context)->log.emplace_back(message.data, message.size);
}
hbf_log_level everything(void *) noexcept {
    return HBF_LOG_DEBUG;
}

} // namespace

Visible look() {
    Visible seen;
    seen.threads = names("/proc/self/task");
    seen.files = names("/proc/self/fd");
    for (char **variable = environ; *variable; ++variable) seen.environment.emplace_back(*variable);
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action{};
        if (sigaction(number, nullptr, &action) == 0)
            seen.signals.push_back(std::to_string(reinterpret_cast<uintptr_t>(action.sa_handler)));
    }
    seen.directory = std::filesystem::current_path().string();
    seen.locale = std::setlocale(LC_ALL, nullptr);
    seen.rounding = std::fegetround();
    return seen;
}

const Loaded &loaded() {
    static const Loaded *once = new Loaded(open_plugin()); // never destroyed, as plugins are never unloaded
    return *once;
}

hbf_host_info host_info() {
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    return host;
}

const hbf_plugin &plugin() {
    const hbf_host_info host = host_info();
    const hbf_plugin *table = loaded().query(HBF_ABI_VERSION, &host);
    if (!table) throw std::runtime_error("the test plugin refuses its own version");
    return *table;
}

size_t fields_ahead() {
    return plugin().struct_size - sizeof(hbf_plugin);
}

Device::Device(OptionList options, const std::string &id) : services{sizeof services, 0, this, keep, everything} {
    std::vector<hbf_option> given;
    for (const auto &[key, value] : options) given.push_back({text(key), text(value)});
    hbf_create_in in{sizeof in, static_cast<uint32_t>(given.size()), &services, given.data(), text(id), text("/")};
    status = plugin().create(&in, &instance, error);
}

Device::~Device() {
    destroy();
}

void Device::destroy() {
    if (instance) plugin().destroy(std::exchange(instance, nullptr));
}

hbf_queue *Device::queue() const {
    const hbf_queue_desc desc{sizeof desc, 0, 0, 0};
    hbf_queue *made = nullptr;
    return queues().create(instance, &desc, &made, nullptr) == HBF_OK ? made : nullptr;
}

void *map_before_trap(size_t size) {
    char *base = static_cast<char *>(
        mmap(nullptr, pages_for(size) + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + pages_for(size), page(), PROT_NONE) != 0) throw std::bad_alloc();
    return base + pages_for(size) - size;
}

void unmap_before_trap(void *at, size_t size) {
    munmap(static_cast<char *>(at) + size - pages_for(size), pages_for(size) + page());
}

} // namespace sdk_test
