// SPDX-License-Identifier: Apache-2.0
// What a plugin does to the process it lives in.
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/inject/calls.hpp"
#include "conformance/inject/wrapper.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

// An event is a call; with call=create, the making of an instance.
class ChangesProcess final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &) override {
        if (!fires()) return;
        const std::string &what = settings().text("what");
        if (what == "environment") setenv("HBF_INJECTED", "1", 1);
        if (what == "directory") (void)!chdir(std::filesystem::current_path() == "/" ? "/proc" : "/");
        if (what == "signal") std::signal(SIGUSR2, SIG_IGN);
        if (what == "mask") {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGUSR2);
            pthread_sigmask(SIG_BLOCK, &set, nullptr);
        }
        if (what == "locale")
            std::setlocale(LC_ALL, std::strcmp(std::setlocale(LC_ALL, nullptr), "C") == 0 ? "C.UTF-8" : "C");
        if (what == "rounding") std::fesetround(FE_UPWARD);
        if (what == "umask") umask(0);
        if (what == "print") {
            static constexpr char line[] = "a line that nobody asked for\n";
            (void)!write(STDOUT_FILENO, line, sizeof line - 1);
        }
    }
};
HBF_FAULT(ChangesProcess, "changes-environment", "a call changes what belongs to the whole process", parameter::call,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "environment",
           .line = "which",
           .choices = {"environment", "directory", "signal", "mask", "locale", "rounding", "umask", "print"}});

class ThreadLeft final : public Fault {
public:
    using Fault::Fault;

    void started() override {
        Fault::started();
        if (!fires()) return;
        std::thread([] {
            for (;;) pause();
        }).detach();
    }
};
HBF_FAULT(ThreadLeft, "thread-left-after-destroy", "an instance's thread goes on after its destroy");

// "Elsewhere" is a machine that is not this one: a test's, without devices.
class ProbeFault final : public Fault {
public:
    using Fault::Fault;

    hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) override {
        if (!fires()) return below_->probe(in, out, e);
        const std::string &what = settings().text("what");
        if (what == "hangs")
            for (;;) pause();
        if (what == "crashes") std::raise(SIGSEGV);
        if (what == "fails") return sdk::shell::refuse(e, HBF_INTERNAL, "probe does not want to");
        const hbf_status status = below_->probe(in, out, e);
        const bool elsewhere = usable(in, HBF_PROBE_IN_MIN_SIZE) && in->system_root.size > 1;
        if (elsewhere && what.ends_with("elsewhere")) return without_device(what, out, e);
        leave(what);
        if (what == "context") opened_by = getpid();
        if (what == "empty" && status == HBF_OK) out->device_count = 0;
        return status;
    }
    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        if (opened_by != 0 && opened_by != getpid())
            return sdk::shell::refuse(e, HBF_INTERNAL, "the driver was initialized in another process");
        return below_->create(in, e);
    }

private:
    static void leave(const std::string &what) {
        if (what == "descriptor") (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (what == "memory") {
            void *const block = std::malloc(4096);
            asm volatile("" : : "r"(block) : "memory");
        }
        if (what == "thread")
            std::thread([] {
                for (;;) pause();
            }).detach();
    }
    static hbf_status without_device(const std::string &what, hbf_probe_out *out, hbf_error *e) {
        if (what == "crashes-elsewhere") std::raise(SIGSEGV);
        if (what == "pci-elsewhere") {
            if (out->devices && out->device_capacity > 0) std::strcpy(out->devices->pci_address, "0000:3b:00.0");
            return HBF_OK;
        }
        out->device_count = what == "counts-elsewhere" ? 1 : 0;
        if (what == "empty-ok-elsewhere") return HBF_OK;
        const bool reason = what != "no-reason-elsewhere";
        return sdk::shell::refuse(e, what == "wrong-status-elsewhere" ? HBF_INTERNAL : HBF_UNAVAILABLE,
                                  reason ? "no device of this kind" : "");
    }
    static inline pid_t opened_by = 0;
};
HBF_FAULT(
    ProbeFault, "probe-wrong", "probe leaves something behind, or does not answer as it must",
    {.key = "what",
     .kind = Parameter::word,
     .preset = "descriptor",
     .line = "left: a descriptor, memory, a thread, a context; or: never returns, crashes, fails, finds nothing; or what it "
             "does on a machine without devices",
     .choices = {"descriptor", "memory", "thread", "context", "hangs", "crashes", "fails", "empty", "crashes-elsewhere",
                 "empty-ok-elsewhere", "pci-elsewhere", "counts-elsewhere", "no-reason-elsewhere",
                 "wrong-status-elsewhere"}});

class ThrowsException final : public CallFault {
public:
    using CallFault::CallFault;

    hbf_status before(const CallResult &) override {
        if (fires()) throw Crossing();
        return HBF_OK;
    }
};
HBF_FAULT(ThrowsException, "throws-exception", "an exception leaves a function of the table", parameter::call);

// A plugin that keeps pointers to what was lent to it for create, and looks there again.
class DanglingString final : public Fault {
public:
    using Fault::Fault;

    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        if (settings().text("what") != "options") return below_->create(in, e);
        keep(in->device_id);
        for (uint32_t i = 0; i < in->option_count; ++i) keep(in->options[i].key), keep(in->options[i].value);
        return below_->create(in, e);
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        for (const Kept &kept : kept_)
            if (std::memcmp(kept.at.data, kept.was.data(), kept.was.size()) != 0 && fires()) {
                if (usable(out, HBF_REGION_INFO_MIN_SIZE)) out->region = 0;
                return sdk::shell::refuse(e, settings().text("what") == "options" ? HBF_INTERNAL : HBF_UNAVAILABLE,
                                          "a string that was lent does not say any more what it said");
            }
        const hbf_status status = below_->alloc(desc, out, e);
        if (status == HBF_OK && settings().text("what") == "names") keep(desc->name);
        return status;
    }

private:
    struct Kept {
        hbf_string at;
        std::string was;
    };
    void keep(const hbf_string &text) {
        if (text.data && text.size) kept_.push_back({text, std::string(text.data, text.size)});
    }
    std::vector<Kept> kept_;
};
HBF_FAULT(DanglingString, "dangling-string", "strings that were lent for a call are read again after it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "options",
           .line = "those of create, or names of regions",
           .choices = {"options", "names"}});

} // namespace
} // namespace hbf::inject
