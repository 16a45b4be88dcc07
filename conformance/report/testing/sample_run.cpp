// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/testing/sample_run.hpp"

#include <fmt/format.h>

namespace hbf::conformance {
namespace {

CaseRecord record(std::string name, Status status, std::string reason = {}) {
    CaseRecord out;
    out.name = std::move(name);
    out.rules = {"HBF-DMA-2"};
    out.status = status;
    out.reason = std::move(reason);
    out.seed = 0xfedcba9876543210;
    out.checks = 7;
    out.duration_s = 0.012;
    out.overhead_s = 0.004;
    out.replay = "hbf conformance --plugin /opt/acme/a.so --filter " + out.name + " --seed 0x2a";
    return out;
}

RunRecord frame() {
    RunRecord run;
    run.suite_version = "0.1.0";
    run.suite_revision = "0123abc";
    run.command_line = {"hbf", "conformance", "--plugin", "/opt/acme/a.so"};
    run.started = "2026-11-29T12:00:00Z";
    run.profile = "quick";
    run.seed = 0x2a;
    run.duration_s = 12.5;
    run.host = {{"cpu", "AMD EPYC"}, {"kernel", "6.1"}};
    run.plugin = {{"path", "/opt/acme/a.so"}, {"sha256", std::string(64, 'a')}, {"name", "acme"}, {"version", "1.0.0"}};
    run.device = {{"id", "gpu0"}, {"name", "Acme X"}, {"driver", "acme 12"}, {"reality", "real"}};
    run.limits = {{"tier.vram0.capacity", "1 GiB"}};
    run.preflight.summary = "doctor: 1 pass, 0 warn, 1 fail, 0 not applicable, 0 cannot tell";
    run.preflight.findings = {{"iommu.translation",
                               "peers use memory's own addresses",
                               "fail",
                               "addresses of 0000:02:00.0 <are> translated",
                               "transfers may vanish",
                               "boot with iommu=pt",
                               {"/sys/kernel/iommu_groups/3/type: DMA-FQ"}},
                              {"numa.balancing",
                               "the kernel moves no pages",
                               "pass",
                               "pages stay where they were put",
                               "latency",
                               "switch it off",
                               {}}};
    run.health_before = {{"edac.mc0.ce_count", 1}};
    run.health_after = {{"edac.mc0.ce_count", 4}};
    run.self_test = "self-test: 12/12 injected faults found";
    run.self_test_passed = true;
    run.bits_compared = 1.2e13;
    run.bound = "0 errors in 1.2e13 bits: rate < 5.8e-13 at 99.9 %";
    return run;
}

} // namespace

RunRecord sample_run() {
    RunRecord run = frame();
    run.emulated = true;
    run.interrupted = true;
    run.inject = {{"flip", "after=3"}};
    CaseRecord flipped = record("dma.copy.guard_bytes_untouched", Status::fail, "byte <4097> & 'more' changed\x1b[31m");
    Evidence evidence;
    evidence.fault_class = fault::bit_flip;
    evidence.tier = "vram0";
    evidence.region = 0x100000001;
    evidence.offset = 4097;
    evidence.address = 0x7f0000001001;
    evidence.expected = 0x5a;
    evidence.actual = 0x1a;
    evidence.width = 1;
    evidence.wrong_bytes = 1;
    evidence.detail = "three re-reads agree: stored or written wrong";
    flipped.evidence = {evidence};
    flipped.log = "</script><script>alert(1)</script> ]]> \xff";
    run.cases.push_back(flipped);
    for (int i = 1; i <= static_cast<int>(Status::interrupted); ++i) {
        const auto status = static_cast<Status>(i);
        run.cases.push_back(record(fmt::format("abi.sample.{}", to_string(status)), status, "because"));
    }
    CaseRecord measured = record("bandwidth.h2d.sequential_meets_declared", Status::pass);
    measured.metrics = {{"bandwidth.copy", "B/s", 1e10, {9e9, 9.5e9, 1e10, 1e10, 1.05e10, 1.1e10, 1.2e10}, 9e9, 1.2e10}};
    measured.series = {{"MP", "outcomes", "outcome", "instances", {{"1,1", 0, 900}, {"1,0", 0, 2, true}}},
                       {"sizes", "sweep", "bytes", "B/s", {{"", 4096, 1e9}, {"", 65536, 8e9}}}};
    measured.mask = "cancel, crc";
    run.cases.push_back(measured);
    run.verdict = "not conformant";
    run.verdict_reason = "7 of 17 cases failed";
    return run;
}

RunRecord clean_run(uint64_t seed) {
    RunRecord run = frame();
    run.seed = seed;
    run.health_after = run.health_before;
    for (const char *name :
         {"abi.exports.only_entry_symbol", "dma.copy.guard_bytes_untouched", "tier.alloc.zero_size_rejected"})
        run.cases.push_back(record(name, Status::pass));
    CaseRecord measured = record("bandwidth.h2d.sequential_meets_declared", Status::pass);
    std::vector<double> samples;
    for (uint64_t i = 0; i < 15; ++i) samples.push_back(1e10 + 1e7 * static_cast<double>((i * 7 + seed) % 15));
    measured.metrics = {{"bandwidth.copy", "B/s", 1.007e10, samples, 1.003e10, 1.011e10}};
    run.cases.push_back(measured);
    run.verdict = "conformant";
    run.verdict_reason = "4 cases, none failed";
    return run;
}

} // namespace hbf::conformance
