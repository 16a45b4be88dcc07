// SPDX-License-Identifier: Apache-2.0
// Messages that are written wrong: one way of getting the caller's error buffer wrong at a time.
#include <csignal>
#include <cstring>

#include "conformance/inject/calls.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

// An event is a call that failed.
class MessageWrong final : public CallFault {
public:
    using CallFault::CallFault;

    void after(CallResult &call) override {
        if (call.status == HBF_OK || !fires()) return;
        const std::string &what = settings().text("what");
        hbf_error *const e = call.error;
        if (!e) {
            if (what == "ok-without-buffer") call.status = HBF_OK;
            if (what == "crash-without-buffer") std::raise(SIGSEGV);
            return;
        }
        if (what == "writes-place" && e->struct_size >= HBF_ERROR_MIN_SIZE &&
            e->struct_size < sizeof *e) // as large as it knows it
            std::memset(reinterpret_cast<std::byte *>(e) + e->struct_size, 0, sizeof *e - e->struct_size);
        if (what == "uses-too-small" && e->struct_size < HBF_ERROR_MIN_SIZE && e->message) std::strcpy(e->message, "x");
        if (!usable(e, HBF_ERROR_MIN_SIZE) || !e->message || e->capacity == 0) return;
        if (what == "needs-place" && e->struct_size < sizeof *e) e->message[0] = '\0', e->length = 0;
        change(*e, what, e->length >= e->capacity);
    }

private:
    static void change(hbf_error &e, const std::string &what, bool cut) {
        const size_t kept = strnlen(e.message, e.capacity);
        if (what == "one-word") sdk::shell::write_error(&e, "refused");
        if (what == "not-utf8") e.message[0] = '\xff';
        if (what == "length-short" && !cut) --e.length;
        if (!cut) return;
        if (what == "past-capacity") e.message[e.capacity] = '\0';
        if (what == "no-nul") std::memset(e.message + kept, 'x', e.capacity - kept);
        if (what == "dropped") e.message[0] = '\0';
        if (what == "length-of-cut") e.length = kept;
        if (what == "half-character" && kept + 1 < e.capacity) e.message[kept] = '\xc3', e.message[kept + 1] = '\0';
    }
};
HBF_FAULT(MessageWrong, "message-wrong", "a call that failed leaves a message that breaks one rule", parameter::call,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "one-word",
           .line = "how: of any message; of one that is cut; with no error buffer or a short one",
           .choices = {"one-word", "not-utf8", "length-short", "past-capacity", "no-nul", "dropped", "length-of-cut",
                       "half-character", "ok-without-buffer", "crash-without-buffer", "writes-place", "needs-place",
                       "uses-too-small"}});

} // namespace
} // namespace hbf::inject
