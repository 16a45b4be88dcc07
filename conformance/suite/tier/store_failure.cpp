// SPDX-License-Identifier: Apache-2.0
// A store that failed, or was never finished, is not there to be found: half of a block of keys and values taken for all of
// it is wrong answers (LMCache issue 4991).
#include <csignal>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/tier/named.hpp"

extern char **environ;

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 1 << 20;

void must_be_absent(Context &context, const Instance &device, uint32_t tier, const std::string &name, std::string_view why) {
    hbf_region_info region{};
    const Call call = device.alloc(tier, 1, region, 0, name, HBF_ALLOC_OPEN_EXISTING);
    context.check_status(call, HBF_UNAVAILABLE, fmt::format("opening {}, although {}", name, why));
}

// The part of the next case that runs in a process of its own and does not live to finish. Its name comes by environment.
constexpr const char *name_variable = "HBF_CONFORMANCE_HALF_STORE";

HBF_CASE("tier.evict.half_store", {.hidden = true, .unproven = "a part of tier.evict.failed_store_not_visible"}) {
    const char *name = std::getenv(name_variable);
    if (!name) context.not_observable(fmt::format("{} names the region", name_variable));
    Instance &device = context.device();
    const uint32_t tier = device.persistent_tier();
    hbf_region_info region{};
    must(device.alloc(tier, size, region, 0, name), "a new region named {}", name);
    ByteAccess(device).write(region, 0, std::vector<std::byte>(size / 2, std::byte{0x4b}));
    ::raise(SIGKILL);
}

// Runs that part in a second process of this program, to its end.
int run_half_store(const SubjectOptions &subject, const std::string &name) {
    std::vector<std::string> words = {"/proc/self/exe", "--plugin", subject.plugin_file, "--case", "tier.evict.half_store"};
    if (!subject.device_id.empty()) words.insert(words.end(), {"--device", subject.device_id});
    for (const auto &[key, value] : subject.options) words.insert(words.end(), {"--option", key + "=" + value});
    std::vector<char *> arguments, variables;
    for (std::string &word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::string variable = fmt::format("{}={}", name_variable, name);
    for (char **entry = environ; *entry; ++entry) variables.push_back(*entry);
    variables.push_back(variable.data());
    variables.push_back(nullptr);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), variables.data());
    if (error) throw std::runtime_error(fmt::format("cannot start a second process: {}", std::strerror(error)));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

HBF_CASE("tier.evict.failed_store_not_visible",
         {.rules = {"HBF-TIER-7", "HBF-TIER-8"},
          .kills = {"m27_failed_store_visible", "visible_before_stored", "refused_store_as_unavailable"},
          .needs = need::persistent | need::cpu_tier}) {
    const uint32_t tier = context.device().persistent_tier();
    const hbf_tier_info info = context.device().describe(tier);
    const std::string refused = fresh_name("refused");
    hbf_region_info region{};
    const Call call = context.device().alloc(tier, info.capacity + info.granule, region, 0, refused);
    context.check_status(call, HBF_EXHAUSTED, fmt::format("a named region larger than {}", info.name));
    must_be_absent(context, context.device(), tier, refused, "its making was refused");

    // Storage belongs to one process at a time.
    context.subject().destroy_instance();
    const std::string half = fresh_name("half");
    const int status = run_half_store(context.subject().options(), half);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        context.inconclusive(fmt::format("the process that was to die while it stored ended with status {:#x}", status));
    must_be_absent(context, made_again(context), tier, half, "its writer was killed half way");
}

} // namespace
} // namespace hbf::conformance
