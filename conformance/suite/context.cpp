// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/context.hpp"

#include <chrono>

namespace hbf::conformance {

void fail(std::string reason) {
    throw Verdict{Status::fail, std::move(reason)};
}

void fail(std::string reason, Evidence evidence) {
    throw Verdict{Status::fail, std::move(reason), {std::move(evidence)}};
}

double Context::now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Context::budget_s() const {
    return entry_->info.budget_s * static_cast<double>(scaled(1, 10, 100));
}

uint64_t Context::scaled(uint64_t quick, uint64_t full, uint64_t soak) const {
    switch (profile_) {
    case Profile::full:
        return full;
    case Profile::soak:
        return soak;
    default:
        return quick;
    }
}

bool Context::time_left() const {
    return now_s() - started_s_ < budget_s();
}

void Context::check_status(const Call &actual, hbf_status expected, std::string_view what) {
    count_check();
    if (actual.status != expected) {
        Evidence evidence;
        evidence.fault_class = actual.ok() ? fault::swallowed : fault::wrong_status;
        evidence.region = actual.region;
        evidence.detail = fmt::format("{}: {} where {} is due", what, to_string(actual), status_name(expected));
        const std::string reason = evidence.detail;
        conformance::fail(reason, std::move(evidence));
    }
    if (expected != HBF_OK && actual.message.empty()) {
        Evidence evidence;
        evidence.fault_class = fault::contract;
        evidence.detail = fmt::format("{}: {} without a message", what, status_name(actual.status));
        const std::string reason = evidence.detail;
        conformance::fail(reason, std::move(evidence));
    }
}

void Context::not_supported(std::string reason) {
    throw Verdict{Status::not_supported, std::move(reason)};
}
void Context::not_observable(std::string reason) {
    throw Verdict{Status::not_observable, std::move(reason)};
}
void Context::inconclusive(std::string reason) {
    throw Verdict{Status::inconclusive, std::move(reason)};
}

void Context::warn_capability(std::string reason) {
    const std::lock_guard lock(mutex_);
    findings_.warnings_capability.push_back(std::move(reason));
}
void Context::warn_quality(std::string reason) {
    const std::lock_guard lock(mutex_);
    findings_.warnings_quality.push_back(std::move(reason));
}
void Context::metric(Metric metric) {
    const std::lock_guard lock(mutex_);
    findings_.metrics.push_back(std::move(metric));
}
void Context::series(Series series) {
    const std::lock_guard lock(mutex_);
    findings_.series.push_back(std::move(series));
}
void Context::note(std::string text) {
    const std::lock_guard lock(mutex_);
    findings_.notes.push_back(std::move(text));
}
void Context::evidence(Evidence evidence) {
    const std::lock_guard lock(mutex_);
    findings_.evidence.push_back(std::move(evidence));
}

Context::Findings Context::findings() const {
    const std::lock_guard lock(mutex_);
    Findings out = findings_;
    out.checks = checks_.load();
    return out;
}

} // namespace hbf::conformance
