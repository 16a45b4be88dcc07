// SPDX-License-Identifier: Apache-2.0
// Cases whose words and deeds differ. Nobody reads what they print: only checks and exceptions count.
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

CaseInfo lying() {
    return {.hidden = true, .unproven = "tries the runner, not a plugin"};
}

HBF_CASE("lying.says.nothing_and_is_honest", {lying()}) {
    context.check(true, "never said");
}

HBF_CASE("lying.says.failed_without_checking", {lying()}) {
    std::puts("FAILED: 3 bytes differ");
    std::fflush(stdout);
}

HBF_CASE("lying.says.unsupported_then_fails", {lying()}) {
    std::puts("UNSUPPORTED\nPASS\nTests passed: 1");
    std::fflush(stdout);
    context.check(false, "it did fail");
}

HBF_CASE("lying.says.failed_but_all_checks_hold", {lying()}) {
    std::puts("test FAILED\nSegmentation fault (core dumped)");
    std::fflush(stdout);
    context.check(true, "never said");
}

HBF_CASE("lying.says.not_supported_without_a_need", {lying()}) {
    context.not_supported("I would rather not");
}

HBF_CASE("lying.says.threw_a_standard_exception", {lying()}) {
    context.check(true, "never said");
    throw std::out_of_range("index 7 of 3");
}

HBF_CASE("lying.says.threw_a_number", {lying()}) {
    context.check(true, "never said");
    throw 7;
}

HBF_CASE("lying.says.failed_in_a_thread_of_its_own", {lying()}) {
    context.check(true, "never said");
    std::thread([&] { context.check(false, "nobody catches this"); }).join();
}

} // namespace
} // namespace hbf::conformance
