// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/asker.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hbf/sdk/text.hpp"
#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/info.hpp"

namespace hbf::opencl {
namespace {

static_assert(sizeof(Word) <= PIPE_BUF, "a word is written whole or not at all");

using Tell = std::function<void(const Word &)>;
using Clock = std::chrono::steady_clock;

// "portable-computing-language", for ids.
std::string slug(std::string_view name) {
    std::string out;
    for (const char c : name.substr(0, 40)) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter))
            out += static_cast<char>(std::tolower(letter));
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    while (!out.empty() && out.back() == '-') out.pop_back();
    return out.empty() ? "platform" : out;
}

void tell_trouble(const Tell &tell, uint32_t platform, const std::string &text) {
    Word word{};
    word.kind = Word::Kind::trouble;
    word.found.platform = platform;
    sdk::set_text(word.text, text);
    tell(word);
}

Found found_of(const DeviceFacts &facts, const PlatformFacts &platform, uint32_t platform_index, uint32_t index) {
    Found found;
    found.platform = platform_index;
    found.device = index;
    sdk::set_text(found.platform_name, platform.name);
    hbf_device_info &info = found.info;
    info.struct_size = sizeof info;
    info.reality = HBF_REALITY_REAL;
    info.numa_node = -1;
    info.flags = facts.cpu ? HBF_DEVICE_ON_CPU : 0;
    sdk::set_text(info.id, facts.pci_address.empty() ? fmt::format("{}-{}", slug(platform.name), index)
                                                     : fmt::format("gpu-{}", facts.pci_address));
    sdk::set_text(info.name, facts.cpu ? fmt::format("this machine's CPUs through OpenCL: {}", facts.name) : facts.name);
    sdk::set_text(info.driver, fmt::format("{} {}, {}", platform.name, facts.driver, facts.version));
    sdk::set_text(info.pci_address, facts.pci_address);
    return found;
}

// A device that cannot serve is a sentence, not an end.
void ask_device(const Functions &cl, cl_device_id device, const PlatformFacts &platform, uint32_t platform_index,
                uint32_t index, const Tell &tell) {
    try {
        const DeviceFacts facts = facts_of(cl, device);
        const std::string who = fmt::format("device {} ({}) of OpenCL platform \"{}\"", index, facts.name, platform.name);
        if (!facts.at_least(1, 2))
            return tell_trouble(tell, platform_index,
                                fmt::format("{} offers {}, 1.2 is the least: a newer driver", who, facts.version));
        if (!facts.available)
            return tell_trouble(tell, platform_index, who + " is not available (CL_DEVICE_AVAILABLE): is it in use?");
        Word word{};
        word.kind = Word::Kind::device;
        word.found = found_of(facts, platform, platform_index, index);
        tell(word);
    } catch (const sdk::Failure &failure) {
        tell_trouble(tell, platform_index,
                     fmt::format("device {} of OpenCL platform \"{}\": {}", index, platform.name, failure.message));
    }
}

void ask_platform(const Functions &cl, cl_platform_id platform, uint32_t index, const Tell &tell) {
    Word asking{};
    asking.kind = Word::Kind::asking;
    asking.found.platform = index;
    tell(asking);
    std::string name = fmt::format("number {}", index);
    try {
        const PlatformFacts facts = facts_of(cl, platform);
        name = facts.name;
        sdk::set_text(asking.found.platform_name, name);
        tell(asking); // with its name: whatever comes now is its doing
        cl_uint count = 0;
        const cl_int code = cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
        if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0))
            return tell_trouble(tell, index, fmt::format("OpenCL platform \"{}\" has no device", name));
        check(code, "clGetDeviceIDs");
        std::vector<cl_device_id> devices(std::min<cl_uint>(count, 256));
        check(cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, static_cast<cl_uint>(devices.size()), devices.data(), nullptr),
              "clGetDeviceIDs");
        for (uint32_t i = 0; i < devices.size(); ++i) ask_device(cl, devices[i], facts, index, i, tell);
    } catch (const sdk::Failure &failure) {
        tell_trouble(tell, index, fmt::format("OpenCL platform \"{}\": {}", name, failure.message));
    }
}

void ask(const Functions &cl, const std::set<uint32_t> &without, const Tell &tell) {
    cl_uint count = 0;
    const cl_int code = cl.GetPlatformIDs(0, nullptr, &count);
    if (code != CL_SUCCESS && code != CL_PLATFORM_NOT_FOUND_KHR) check(code, "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(std::min<cl_uint>(count, 256));
    if (!platforms.empty())
        check(cl.GetPlatformIDs(static_cast<cl_uint>(platforms.size()), platforms.data(), nullptr), "clGetPlatformIDs");
    Word word{};
    word.kind = Word::Kind::platforms;
    word.count = static_cast<uint32_t>(platforms.size());
    tell(word);
    for (uint32_t i = 0; i < platforms.size(); ++i)
        if (!without.contains(i)) ask_platform(cl, platforms[i], i, tell);
    word.kind = Word::Kind::end;
    tell(word);
}

// In the child: nothing it prints, dumps or leaves behind is seen.
[[noreturn]] void answer(const Functions &cl, const std::set<uint32_t> &without, int to, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
        for (const int standard : {0, 1, 2}) ::dup2(null, standard);
    const Tell tell = [to](const Word &word) {
        while (::write(to, &word, sizeof word) < 0 && errno == EINTR) {
        }
    };
    try {
        ask(cl, without, tell);
    } catch (const sdk::Failure &failure) {
        tell_trouble(tell, UINT32_MAX, failure.message);
        Word word{};
        tell(word);
    } catch (...) {
        ::_exit(1); // as a crash
    }
    ::_exit(0);
}

// One child and what it said.
class Child {
public:
    Child(const Functions &cl, const std::set<uint32_t> &without) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            sdk::fail(HBF_EXHAUSTED, fmt::format("no pipe to ask OpenCL platforms through: {}", std::strerror(errno)));
        const pid_t parent = ::getpid();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            answer(cl, without, ends[1], parent);
        }
        ::close(ends[1]);
        from_ = ends[0];
        if (pid_ < 0) {
            ::close(from_);
            sdk::fail(HBF_EXHAUSTED, fmt::format("no process to ask OpenCL platforms in: {}", std::strerror(errno)));
        }
    }
    ~Child() {
        ::close(from_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        (void)end();
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Nothing: it ended, or the time is over (`late`).
    std::optional<Word> listen(Clock::time_point until, bool &late) {
        Word word;
        for (size_t got = 0; got < sizeof word;) {
            pollfd ready{from_, POLLIN, 0};
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
            const int polled = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
            if (polled < 0 && errno == EINTR) continue;
            if (polled <= 0) {
                late = true;
                return std::nullopt;
            }
            const ssize_t count = ::read(from_, reinterpret_cast<char *>(&word) + got, sizeof word - got);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return std::nullopt;
            got += static_cast<size_t>(count);
        }
        return word;
    }

    // How it ended, in words.
    std::string end() {
        int status = 0;
        pid_t waited = 0;
        while ((waited = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        if (waited < 0) return "ended"; // the host collects its children itself
        if (WIFSIGNALED(status)) {
            const char *const name = ::sigabbrev_np(WTERMSIG(status));
            return name ? fmt::format("ended by SIG{}", name) : fmt::format("ended by signal {}", WTERMSIG(status));
        }
        return fmt::format("exited with status {}", WEXITSTATUS(status));
    }

private:
    pid_t pid_ = 0;
    int from_ = -1;
};

void take(const Word &word, Survey &out) {
    if (word.kind == Word::Kind::device)
        out.devices.push_back(word.found);
    else if (word.kind == Word::Kind::trouble)
        out.troubles.emplace_back(word.text);
}

std::string title(const Word &asked) {
    return asked.found.platform_name[0] ? fmt::format("OpenCL platform \"{}\"", asked.found.platform_name)
                                        : fmt::format("OpenCL platform number {}", asked.found.platform);
}

} // namespace

Survey ask_here(const Functions &cl) {
    Survey out;
    ask(cl, {}, [&](const Word &word) { take(word, out); });
    return out;
}

Survey ask_in_child(const Functions &cl, const AskLimits &limits) {
    std::set<uint32_t> without;
    Survey out;
    const auto last = Clock::now() + limits.all;
    for (;;) {
        Child child(cl, without);
        std::optional<Word> asked;
        bool late = false;
        auto until = std::min(last, Clock::now() + limits.each);
        std::optional<Word> word;
        while ((word = child.listen(until, late)) && word->kind != Word::Kind::end) {
            take(*word, out);
            if (word->kind != Word::Kind::asking) continue;
            if (asked && asked->found.platform != word->found.platform) without.insert(asked->found.platform); // it is done
            asked = word;
            until = std::min(last, Clock::now() + limits.each);
        }
        if (word) return out;
        const std::string how = late ? "did not answer in time" : child.end();
        if (!asked) // the loader itself, or a vendor's library as it was loaded
            sdk::fail(HBF_INTERNAL, fmt::format("the OpenCL loader {} when it was asked for its platforms: {}; remedy: look "
                                                "at /etc/OpenCL/vendors, or set OCL_ICD_VENDORS to the file of one driver",
                                                library_name, how));
        // What it said of devices before that does not count.
        std::erase_if(out.devices, [&](const Found &found) { return found.platform == asked->found.platform; });
        out.troubles.push_back(fmt::format("{} {} when it was asked for its devices: it is left out", title(*asked),
                                           late ? "did not answer in time" : "crashed (" + how + ")"));
        without.insert(asked->found.platform);
        if (Clock::now() >= last) return out;
    }
}

} // namespace hbf::opencl
