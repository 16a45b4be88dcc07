// SPDX-License-Identifier: Apache-2.0
// Calls to the host's log that must not be.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

class LogFault : public Fault {
public:
    using Fault::Fault;

protected:
    void say(hbf_log_level level, std::string_view text) const {
        const hbf_host_services *services = device().services();
        if (services) services->log(services->context, level, {text.data(), text.size()});
    }
};

class LogUnderLock final : public LogFault {
public:
    using LogFault::LogFault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            if (fires()) say(HBF_LOG_DEBUG, "a batch came");
        }
        return below_->submit(queue, batch, out_value, e);
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        std::lock_guard lock(mutex_);
        return below_->poll(queue, out);
    }

private:
    std::mutex mutex_;
};
HBF_FAULT(LogUnderLock, "log-under-lock", "the log is called under a lock that poll takes");

class LogBadLevel final : public LogFault {
public:
    using LogFault::LogFault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (fires()) say(static_cast<hbf_log_level>(settings().number("level")), "a batch came");
        return below_->submit(queue, batch, out_value, e);
    }
};
HBF_FAULT(LogBadLevel, "log-bad-level", "a log line has a level that there is not",
          {.key = "level", .preset = "17", .line = "which"});

class LogNoText final : public LogFault {
public:
    using LogFault::LogFault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_host_services *services = device().services();
        if (services && fires()) services->log(services->context, HBF_LOG_INFO, {nullptr, 12});
        return below_->submit(queue, batch, out_value, e);
    }
};
HBF_FAULT(LogNoText, "log-no-text", "a log line of some bytes points at none");

// When all others are done with it.
class ServicesChanged final : public LogFault {
public:
    using LogFault::LogFault;

    void destroy() override {
        auto *const services = const_cast<hbf_host_services *>(device().services());
        below_->destroy();
        if (services && fires()) services->log_level = nullptr;
    }
};
HBF_FAULT(ServicesChanged, "services-changed", "an instance that ends changes the host's table of services");

// The table of services is the host's, and may be gone by then.
class LogAfterDestroy final : public LogFault {
public:
    using LogFault::LogFault;

    void destroy() override {
        const hbf_host_services *services = device().services();
        below_->destroy();
        if (!services || !fires()) return;
        const hbf_host_services copy = *services;
        std::thread([copy, ms = settings().number("ms")] {
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
            static constexpr char text[] = "the instance has ended";
            copy.log(copy.context, HBF_LOG_INFO, {text, sizeof text - 1});
        }).detach();
    }
};
HBF_FAULT(LogAfterDestroy, "log-after-destroy", "a thread of an instance logs when its destroy has returned",
          {.key = "ms", .preset = "5", .line = "milliseconds after it"});

class LogFlood final : public LogFault {
public:
    using LogFault::LogFault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (fires())
            for (uint64_t i = 0; i < settings().number("lines"); ++i) say(HBF_LOG_ERROR, "the same line, again and again");
        return below_->submit(queue, batch, out_value, e);
    }
};
HBF_FAULT(LogFlood, "log-flood", "every submit writes a great many lines to the log",
          {.key = "lines", .preset = "10000", .line = "how many"});

} // namespace
} // namespace hbf::inject
