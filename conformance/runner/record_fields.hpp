// SPDX-License-Identifier: Apache-2.0
// The members of each record by name, once for writing and reading. An archive is called with (key, member), or hex(key,
// number) where a number is written as text.
#pragma once

#include <concepts>
#include <type_traits>

#include "conformance/runner/record.hpp"

namespace hbf::conformance {

template <class T, class Record>
concept Of = std::same_as<std::remove_const_t<T>, Record>;

void fields(auto &archive, Of<Metric> auto &m) {
    archive("name", m.name);
    archive("unit", m.unit);
    archive("value", m.value);
    archive("low", m.low);
    archive("high", m.high);
    archive("samples", m.samples);
}

void fields(auto &archive, Of<Series::Point> auto &p) {
    archive("label", p.label);
    archive("x", p.x);
    archive("y", p.y);
    archive("marked", p.marked);
}

void fields(auto &archive, Of<Series> auto &s) {
    archive("name", s.name);
    archive("kind", s.kind);
    archive("x_label", s.x_label);
    archive("y_label", s.y_label);
    archive("points", s.points);
}

void fields(auto &archive, Of<Evidence> auto &e) {
    archive("fault_class", e.fault_class);
    archive("tier", e.tier);
    archive.hex("region", e.region);
    archive("offset", e.offset);
    archive.hex("address", e.address);
    archive.hex("expected", e.expected);
    archive.hex("actual", e.actual);
    archive("width", e.width);
    archive("wrong_bytes", e.wrong_bytes);
    archive("detail", e.detail);
}

void fields(auto &archive, Of<CaseRecord> auto &c) {
    archive("name", c.name);
    archive("status", c.status);
    archive("reason", c.reason);
    archive("rules", c.rules);
    archive("evidence", c.evidence);
    archive("metrics", c.metrics);
    archive("series", c.series);
    archive("notes", c.notes);
    archive.hex("seed", c.seed);
    archive("checks", c.checks);
    archive("duration_s", c.duration_s);
    archive("overhead_s", c.overhead_s);
    archive("mask", c.mask);
    archive("waiver", c.waiver);
    archive("replay", c.replay);
    archive("log", c.log);
}

void fields(auto &archive, Of<PreflightFinding> auto &f) {
    archive("id", f.id);
    archive("title", f.title);
    archive("verdict", f.verdict);
    archive("found", f.found);
    archive("why", f.why);
    archive("remedy", f.remedy);
    archive("evidence", f.evidence);
}

void fields(auto &archive, Of<Preflight> auto &p) {
    archive("summary", p.summary);
    archive("findings", p.findings);
}

void fields(auto &archive, Of<RunRecord> auto &r) {
    archive("suite_version", r.suite_version);
    archive("suite_revision", r.suite_revision);
    archive("verdict", r.verdict);
    archive("verdict_reason", r.verdict_reason);
    archive("emulated", r.emulated);
    archive("interrupted", r.interrupted);
    archive("started", r.started);
    archive("duration_s", r.duration_s);
    archive("profile", r.profile);
    archive.hex("seed", r.seed);
    archive("command_line", r.command_line);
    archive("host", r.host);
    archive("plugin", r.plugin);
    archive("device", r.device);
    archive("limits", r.limits);
    archive("inject", r.inject);
    archive("preflight", r.preflight);
    archive("health_before", r.health_before);
    archive("health_after", r.health_after);
    archive("self_test", r.self_test);
    archive("self_test_passed", r.self_test_passed);
    archive("bits_compared", r.bits_compared);
    archive("bit_errors", r.bit_errors);
    archive("bound", r.bound);
    archive("cases", r.cases);
}

} // namespace hbf::conformance
