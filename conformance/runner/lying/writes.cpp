// SPDX-License-Identifier: Apache-2.0
// Cases that meddle with the descriptors of their process.
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/runner/record_channel.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

CaseInfo lying() {
    return {.hidden = true, .unproven = "tries the runner, not a plugin"};
}
constexpr int most = 1 << 20;

// The record's way out, found as no plugin would look for it: the only pipe above the usual numbers.
int record_descriptor() {
    for (int fd = 64; fd < most; ++fd) {
        struct stat facts = {};
        if (fstat(fd, &facts) == 0 && S_ISFIFO(facts.st_mode)) return fd;
    }
    return -1;
}

void write_text(int fd, const std::string &text) {
    if (write(fd, text.data(), text.size()) < 0) _exit(70);
}

HBF_CASE("lying.writes.a_second_record", {lying()}) {
    write_text(record_descriptor(), framed(R"({"name":"lying.writes.a_second_record","status":"pass"})"));
    context.check(false, "the second one says so");
}

HBF_CASE("lying.writes.a_record_of_another_case", {lying()}) {
    write_text(record_descriptor(), framed(R"({"name":"dma.copy.other","status":"pass"})"));
    _exit(0);
}

HBF_CASE("lying.writes.half_a_record", {lying()}) {
    const std::string whole = framed(R"({"name":"lying.writes.half_a_record","status":"pass"})");
    write_text(record_descriptor(), whole.substr(0, whole.size() / 2));
    _exit(0);
}

HBF_CASE("lying.writes.a_status_that_is_none", {lying()}) {
    write_text(record_descriptor(), framed(R"({"name":"lying.writes.a_status_that_is_none","status":"passed"})"));
    _exit(0);
}

HBF_CASE("lying.writes.a_verdict_of_the_runner", {lying()}) {
    write_text(record_descriptor(), framed(R"({"name":"lying.writes.a_verdict_of_the_runner","status":"waived"})"));
    _exit(3);
}

HBF_CASE("lying.writes.without_end", {lying()}) {
    context.check(true, "never said");
    const std::string line(4096, 'x');
    for (;;) write_text(STDOUT_FILENO, line);
}

HBF_CASE("lying.writes.much_but_not_too_much", {lying()}) {
    context.check(true, "never said");
    const std::string line(1023, 'y');
    for (int i = 0; i < 300; ++i) write_text(i % 2 ? STDOUT_FILENO : STDERR_FILENO, line + "\n");
}

HBF_CASE("lying.writes.after_closing_the_first_64", {lying()}) {
    context.check(true, "never said");
    for (int fd = 0; fd < 64; ++fd) close(fd);
}

HBF_CASE("lying.writes.after_closing_all", {lying()}) {
    context.check(true, "never said");
    for (int fd = record_descriptor(); fd >= 0; --fd) close(fd);
}

} // namespace
} // namespace hbf::conformance
