// SPDX-License-Identifier: Apache-2.0
// Files that hold regions, left open to others: what a plugin that is careless about them would do, done to those that the
// process has open.
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/inject/calls.hpp"

namespace hbf::inject {
namespace {

constexpr int most_descriptors = 1024;

// An event is an alloc in a persistent tier.
class StoredFiles final : public Fault {
public:
    using Fault::Fault;

    void started() override {
        Fault::started();
        if (settings().text("what") != "unlocked") return;
        for (int fd = 3; fd < most_descriptors; ++fd) flock(fd, LOCK_UN); // whatever can be locked
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const std::vector<bool> before = files();
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !fires()) return status;
        const std::vector<bool> after = files();
        for (int fd = 3; fd < most_descriptors; ++fd)
            if (after[static_cast<size_t>(fd)] && !before[static_cast<size_t>(fd)]) change(fd);
        return status;
    }

private:
    static std::vector<bool> files() {
        std::vector<bool> found(most_descriptors);
        struct stat facts = {};
        for (int fd = 3; fd < most_descriptors; ++fd)
            found[static_cast<size_t>(fd)] = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
        return found;
    }
    void change(int fd) const {
        if (settings().text("what") == "mode") fchmod(fd, 0644);
        if (settings().text("what") != "links-followed") return;
        const std::string path = "/proc/self/fd/" + std::to_string(fd);
        const int again = open(path.c_str(), (fcntl(fd, F_GETFL) & (O_ACCMODE | O_DIRECT)) | O_CLOEXEC);
        if (again < 0) return;
        dup3(again, fd, O_CLOEXEC);
        close(again);
    }
};
HBF_FAULT(StoredFiles, "stored-files-open", "the files that hold regions are not kept from others",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "mode",
           .line = "anybody may read them; they were opened through a link; another process may open them too",
           .choices = {"mode", "links-followed", "unlocked"}});

} // namespace
} // namespace hbf::inject
