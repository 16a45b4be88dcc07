// SPDX-License-Identifier: Apache-2.0
// Files that hold regions: their owner's alone, no link's target, and one process's at a time.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;
constexpr const char *region_name = "hbf-conformance.mode";
constexpr uint64_t region_size = 4096;

Call open_named(const Instance &device, uint32_t tier, hbf_region_info &out) {
    const Call call = device.alloc(tier, region_size, out, 0, region_name, HBF_ALLOC_OPEN_EXISTING);
    return call.status == HBF_UNAVAILABLE ? device.alloc(tier, region_size, out, 0, region_name) : call;
}

// A process that has the named region open until this object ends. Made before this process has an instance.
class Holder {
public:
    explicit Holder(Subject &subject) {
        int ready[2], hold[2];
        if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(hold, O_CLOEXEC) != 0 || (child_ = fork()) < 0)
            throw std::system_error(errno, std::generic_category(), "a second process");
        if (child_ == 0) {
            close(hold[1]);
            char said = 'n';
            try {
                const auto device = subject.must_create();
                hbf_region_info region{};
                if (open_named(*device, device->persistent_tier(), region).ok()) said = 'y';
                if (write(ready[1], &said, 1) != 1) _exit(1);
                while (read(hold[0], &said, 1) < 0 && errno == EINTR) {
                }
            } catch (...) {
                said = 'n';
                _exit(write(ready[1], &said, 1) == 1 ? 1 : 2);
            }
            _exit(0);
        }
        close(hold[0]);
        close(ready[1]);
        hold_ = hold[1];
        char said = 'n';
        pollfd waiting{ready[0], POLLIN, 0};
        has_it_ = poll(&waiting, 1, 10'000) == 1 && read(ready[0], &said, 1) == 1 && said == 'y';
        close(ready[0]);
    }
    ~Holder() {
        close(hold_);
        for (int i = 0; i < 5000; ++i) {
            if (waitpid(child_, nullptr, WNOHANG) != 0) return;
            poll(nullptr, 0, 2);
        }
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    Holder(const Holder &) = delete;
    Holder &operator=(const Holder &) = delete;
    bool has_it() const { return has_it_; }

private:
    pid_t child_ = -1;
    int hold_ = -1;
    bool has_it_ = false;
};

// "" if a second process was refused, else what it could do.
std::string second_process(Subject &subject) {
    hbf_instance *made = nullptr;
    Call call = subject.create(made);
    if (call.ok()) {
        const Instance device(subject, made);
        if (!(device.capabilities() & need::persistent)) return {}; // without the storage, and said so in its log
        hbf_region_info region{};
        call = open_named(device, device.persistent_tier(), region);
    }
    return call.status == HBF_BUSY ? "" : "opening the region again says " + to_string(call) + " where HBF_BUSY is due";
}

// Regular files that came since `before`, by descriptor.
std::vector<int> new_files(const std::vector<int> &before) {
    std::vector<int> found;
    struct stat facts = {};
    for (int fd = 0; fd < 4096; ++fd) {
        if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        if (std::find(before.begin(), before.end(), fd) == before.end()) found.push_back(fd);
    }
    return found;
}

void check_file(Context &context, int fd) {
    std::error_code gone;
    const std::string name = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), gone).string();
    struct stat facts = {};
    if (fstat(fd, &facts) != 0) return;
    context.check((facts.st_mode & 07777) == 0600, "{} has mode {:04o}, where 0600 is due", name, facts.st_mode & 07777);
    if (facts.st_nlink > 0) // without a name it has no place that a link could take
        context.check(fcntl(fd, F_GETFL) & O_NOFOLLOW, "{} was opened so that a link in its place would have been followed",
                      name);
}

HBF_CASE("security.storage_mode", {.rules = {"HBF-SEC-4"},
                                   .kills = {"storage_world_readable", "storage_links_followed", "storage_unlocked"},
                                   .needs = need::persistent}) {
    Subject &subject = context.subject();
    subject.destroy_instance(); // what it holds, it holds for this process; the next two have none of it
    {
        const Holder holder(subject);
        if (!holder.has_it()) context.inconclusive("a process of its own could not open a named region: nothing was shown");
        const Forked second = run_forked([&] { return second_process(subject); }, 10);
        context.check(second.trouble().empty(), "while one process has a named region open, in another {}",
                      second.trouble());
    }
    const mode_t mask = umask(0); // whatever the user's is
    const std::vector<int> before = new_files({});
    Instance &device = subject.instance();
    const uint32_t tier = device.persistent_tier();
    hbf_region_info named{};
    must(open_named(device, tier, named), "alloc of a named region");
    const hbf_region_info anonymous = device.must_alloc(tier, region_size);
    umask(mask);
    const std::vector<int> files = new_files(before);
    if (files.empty()) context.not_observable("the plugin keeps its regions in no file that this process has open");
    for (const int fd : files) check_file(context, fd);
    device.must_free(anonymous.region);
    device.must_free(named.region);
}

} // namespace
} // namespace hbf::conformance
