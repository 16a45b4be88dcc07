// SPDX-License-Identifier: Apache-2.0
// Failures: each has its status, its message, and no handle left in place.
#include <algorithm>
#include <cstring>

#include "conformance/suite/abi/failures.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/guarded.hpp"

namespace hbf::conformance {
namespace {

Evidence evidence_of(std::string_view fault_class, const std::string &detail) {
    Evidence evidence;
    evidence.fault_class = fault_class;
    evidence.detail = detail;
    return evidence;
}

bool is_utf8(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i++]);
        int more = first < 0x80             ? 0
                   : (first & 0xe0) == 0xc0 ? 1
                   : (first & 0xf0) == 0xe0 ? 2
                   : (first & 0xf8) == 0xf0 ? 3
                                            : -1;
        for (; more > 0; --more, ++i)
            if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
        if (more < 0) return false;
    }
    return true;
}

// The host's error buffer of `capacity` bytes, with an unreadable page behind both the struct and the text.
struct TightError {
    GuardedBytes text;
    Shortened<hbf_error> error;
    explicit TightError(size_t capacity, uint32_t size = sizeof(hbf_error))
        : text(capacity), error({0, 0, reinterpret_cast<char *>(text.data()), capacity, 0, 0, HBF_NO_PLACE}, size) {}
    std::string message() const {
        const auto *bytes = reinterpret_cast<const char *>(text.data());
        return {bytes, strnlen(bytes, text.size())};
    }
};

HBF_CASE("abi.error.message_for_every_failure",
         {.rules = {"HBF-ABI-10"},
          .kills = {"error_without_message", "message_one_word", "message_not_utf8", "message_length_short",
                    "message_no_nul", "message_dropped", "message_length_of_cut", "message_half_character",
                    "message_ok_without_buffer", "message_crash_without_buffer", "message_writes_place",
                    "message_needs_place", "message_uses_too_small", "message_past_capacity", "message_overflow"}}) {
    const Failures failures(context.subject(), context.device());
    for (const Provoked &one : failures.all()) {
        hbf_status status = HBF_OK;
        TightError whole(2048);
        one.call(whole.error.get(), status);
        if (status == HBF_OK) continue; // abi.error.code_by_cause finds that
        const std::string full = whole.message();
        context.check(full.find(' ') != std::string::npos, "{} is refused ({}), and the message \"{}\" is no sentence",
                      one.what, status_name(status), full);
        context.check(is_utf8(full), "{}: the message is not UTF-8", one.what);
        const hbf_error said = whole.error.value();
        context.check(said.length == full.size(), "{}: length is {}, and the message is {} bytes", one.what, said.length,
                      full.size());

        const size_t capacity = 8;
        TightError cut(capacity);
        one.call(cut.error.get(), status);
        context.check(!cut.text.touched(), "{}: byte {} of a message buffer of {} was touched", one.what,
                      capacity + cut.text.touched().value_or(0), capacity);
        const size_t kept = cut.message().size();
        context.check(kept > 0 && kept < capacity && full.starts_with(cut.message()),
                      "{}: a message cut to {} bytes reads \"{}\"{}", one.what, capacity, cut.message(),
                      kept < capacity ? "" : ", and has no NUL");
        context.check(cut.error.value().length == full.size(), "{}: of a message cut to {} bytes, length is {} and not {}",
                      one.what, capacity, cut.error.value().length, full.size());
        one.call(nullptr, status); // allowed; a crash ends the case
        context.check(status != HBF_OK, "{} succeeds when nobody wants a message", one.what);
    }

    // A message with characters of two bytes, cut at every place.
    Subject &subject = context.subject();
    const std::string key = "\xc3\xa4\xc3\xb6\xc3\xbc-unbekannt";
    std::vector<hbf_option> options = subject.abi_options();
    options.push_back({{key.data(), key.size()}, {"1", 1}});
    hbf_create_in in{};
    in.struct_size = sizeof in;
    in.option_count = static_cast<uint32_t>(options.size());
    in.options = options.data();
    in.device_id = {subject.options().device_id.data(), subject.options().device_id.size()};
    for (size_t capacity = 1; capacity <= 96; ++capacity) {
        TightError cut(capacity);
        hbf_instance *made = nullptr;
        const hbf_status status = subject.plugin().create(&in, &made, cut.error.get());
        if (status == HBF_OK) subject.plugin().destroy(made); // lifecycle.create.unknown_option finds that
        context.check(is_utf8(cut.message()), "a message cut to {} bytes ends in half a character", capacity);
    }
    // An error buffer smaller than its minimum is as good as none; one of the minimum has no place in it.
    TightError oldest(256, HBF_ERROR_MIN_SIZE), useless(256, HBF_ERROR_MIN_SIZE - 8);
    hbf_status status = HBF_OK;
    failures.all().front().call(oldest.error.get(), status);
    context.check(!oldest.error.touched(), "an error buffer says it is {} bytes, and byte {} was touched",
                  HBF_ERROR_MIN_SIZE, HBF_ERROR_MIN_SIZE + oldest.error.touched().value_or(0));
    context.check(!oldest.message().empty(), "an error buffer of its frozen minimum of {} bytes gets no message",
                  HBF_ERROR_MIN_SIZE);
    failures.all().front().call(useless.error.get(), status);
    context.check(!useless.error.touched() && useless.message().empty(),
                  "an error buffer of {} bytes, less than the minimum, was written to", HBF_ERROR_MIN_SIZE - 8);
}

HBF_CASE("abi.error.untouched_on_success", {.rules = {"HBF-ABI-10"}, .kills = {"error_written_on_success"}}) {
    Instance &device = context.device();
    const Queue queue(device);
    char text[64] = "untouched";
    hbf_error error{sizeof error, 0, text, sizeof text, 77, 78, 79};
    const auto check = [&](std::string_view what, hbf_status status) {
        must(status, "{}", what);
        context.check(std::strcmp(text, "untouched") == 0 && error.length == 77 && error.region == 78 && error.offset == 79,
                      "{} succeeded, and wrote to the error buffer", what);
    };
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    check("describe", device.tier_table().describe(device.handle(), 0, &info, &error));
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.size = 4096;
    hbf_region_info made{};
    made.struct_size = sizeof made;
    check("alloc", device.tier_table().alloc(device.handle(), &desc, &made, &error));
    check("free", device.tier_table().free(device.handle(), made.region, &error));
    const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, nullptr, 0};
    uint64_t value = 0;
    check("submit", device.queue_table().submit(queue, &batch, &value, &error));
    check("wait", device.queue_table().wait(queue, value, 10'000'000'000, &error));
}

HBF_CASE("abi.error.code_by_cause", {.rules = {"HBF-ABI-12"}, .kills = {"wrong_status", "m22_error_swallowed"}}) {
    const Failures failures(context.subject(), context.device());
    for (const Provoked &one : failures.all()) {
        hbf_status status = HBF_OK;
        ErrorBuffer error;
        one.call(error, status);
        context.count_check();
        if (std::find(one.due.begin(), one.due.end(), status) != one.due.end()) continue;
        const std::string detail =
            fmt::format("{}: {} where {} is due", one.what, to_string(error.call(status)), status_name(one.due.front()));
        fail(detail, evidence_of(status == HBF_OK ? fault::swallowed : fault::wrong_status, detail));
    }
}

HBF_CASE("abi.error.out_handles_zeroed", {.rules = {"HBF-ABI-13"}, .kills = {"out_handle_left"}}) {
    const Failures failures(context.subject(), context.device());
    for (const Provoked &one : failures.all()) {
        hbf_status status = HBF_OK;
        const std::optional<uint64_t> out = one.call(nullptr, status);
        if (!out || status == HBF_OK) continue;
        context.check(*out == 0, "{} fails ({}), and its out-value is {:#x} instead of 0", one.what, status_name(status),
                      *out);
    }
}

} // namespace
} // namespace hbf::conformance
