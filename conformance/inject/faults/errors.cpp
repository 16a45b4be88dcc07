// SPDX-License-Identifier: Apache-2.0
// Failures that are told wrong, or not at all.
#include <cstring>

#include "conformance/inject/calls.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

// An event is a call that failed.
class SwallowError final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status != HBF_OK && call.status != HBF_TIMEOUT && fires()) call.status = HBF_OK;
    }
    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = CallFault::poll(queue, out);
        const std::string &call = settings().text("call");
        if ((call == "any" || call == "poll") && status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE))
            out->failed = 0, out->status = HBF_OK;
        return status;
    }
};
HBF_FAULT(SwallowError, "swallow-error", "a call that failed says HBF_OK, and poll tells of no failed value",
          parameter::call);

class ErrorNotInFence final : public Fault {
public:
    using Fault::Fault;

    hbf_status poll(Queue &queue, hbf_progress *out) override {
        const hbf_status status = below_->poll(queue, out);
        if (status == HBF_OK && usable(out, HBF_PROGRESS_MIN_SIZE)) out->failed = 0, out->status = HBF_OK;
        return status;
    }
    hbf_status failure(Queue &, hbf_error *e) override {
        return sdk::shell::refuse(e, HBF_INVALID, "no value of the queue has failed");
    }
};
HBF_FAULT(ErrorNotInFence, "error-not-in-fence", "a value that failed completes as a success; give it device-error below");

constexpr std::string_view status_names[] = {"ok",      "unavailable", "unsupported", "permission", "exhausted", "busy",
                                             "timeout", "cancelled",   "device-lost", "data-loss",  "invalid",   "internal"};

const std::vector<std::string_view> status_choices(std::begin(status_names), std::end(status_names));

hbf_status status_named(std::string_view name) {
    for (hbf_status status = HBF_OK; status <= HBF_INTERNAL; ++status)
        if (status_names[status] == name) return status;
    return HBF_INTERNAL;
}

class WrongStatus final : public CallFault {
public:
    explicit WrongStatus(const Settings &settings)
        : CallFault(settings), from_(status_named(settings.text("from"))), to_(status_named(settings.text("to"))) {}

    void after(CallResult &call) override {
        if (call.status != HBF_OK && (from_ == HBF_OK || call.status == from_) && fires()) call.status = to_;
    }

private:
    const hbf_status from_, to_;
};
HBF_FAULT(
    WrongStatus, "wrong-status", "a call that failed says another status than is due", parameter::call,
    {.key = "from", .kind = Parameter::word, .preset = "ok", .line = "only this one; ok: any", .choices = status_choices},
    {.key = "to", .kind = Parameter::word, .preset = "internal", .line = "what it says", .choices = status_choices});

// An event is a call that went well. What it made is made.
class SuccessDenied final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status != HBF_OK || !fires()) return;
        call.status =
            sdk::shell::refuse(call.error, status_named(settings().text("to")), "it went well, and says otherwise");
    }
};
HBF_FAULT(SuccessDenied, "success-denied", "a call that went well says that it failed", parameter::call,
          {.key = "to", .kind = Parameter::word, .preset = "internal", .line = "what it says", .choices = status_choices});

class NoMessage final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status == HBF_OK || !usable(call.error, HBF_ERROR_MIN_SIZE) || !fires()) return;
        if (call.error->message && call.error->capacity > 0) call.error->message[0] = '\0';
        call.error->length = 0;
    }
};
HBF_FAULT(NoMessage, "error-without-message", "a call that failed leaves no message", parameter::call);

class MessageOnSuccess final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status == HBF_OK && call.name != CallName::failure && fires())
            sdk::shell::write_error(call.error, "this went well");
    }
};
HBF_FAULT(MessageOnSuccess, "error-written-on-success", "a call that succeeded writes to the error buffer", parameter::call);

class MessageOverflow final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        hbf_error *e = call.error;
        if (call.status == HBF_OK || !usable(e, HBF_ERROR_MIN_SIZE) || !e->message || !fires()) return;
        const uint64_t beyond = settings().number("bytes");
        std::memset(e->message, 'x', e->capacity + beyond);
        e->length = e->capacity + beyond;
    }
};
HBF_FAULT(MessageOverflow, "message-overflow", "a message is written past the buffer's capacity, without its NUL",
          parameter::call, {.key = "bytes", .preset = "1", .line = "how far past"});

class HandleLeft final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status != HBF_OK && call.handle && fires()) *call.handle = 0x5eed;
    }
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        const hbf_status status = CallFault::create_queue(desc, queue, e);
        const std::string &call = settings().text("call");
        if (status != HBF_OK && (call == "any" || call == "queue")) queue.real = reinterpret_cast<hbf_queue *>(this);
        return status;
    }
};
HBF_FAULT(HandleLeft, "out-handle-left", "a call that failed leaves a handle or value that is not 0", parameter::call);

class NullCrash final : public CallFault {
public:
    using CallFault::CallFault;

    hbf_status before(const CallResult &call) override {
        const bool has_out = call.known_size != 0, has_in = call.in_known_size != 0 && call.name != CallName::probe;
        if ((has_out && !call.out) || (has_in && !call.in && takes_struct(call.name)))
            if (fires()) *static_cast<volatile int *>(nullptr) = 1;
        return HBF_OK;
    }

private:
    static bool takes_struct(CallName name) { return name == CallName::alloc || name == CallName::submit; }
};
HBF_FAULT(NullCrash, "null-argument-crashes", "a NULL argument is used without a look", parameter::call);

} // namespace
} // namespace hbf::inject
