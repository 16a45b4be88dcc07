// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/doctor/doctor.hpp"
#include "tools/doctor/report.hpp"
#include "tools/doctor/testing/machines.hpp"

namespace hbf::tools::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Verdicts = std::map<std::string, Verdict>;

Examination look_at(const test::FakeMachine &machine, const std::string &known_bad = "", const char *file = "list.toml") {
    const auto list = known_bad.empty() ? load_known_bad(HBF_KNOWN_BAD) : parse_known_bad(known_bad, file);
    if (!list) throw std::runtime_error(list.error());
    return examine(machine.root(), all_checks(), *list);
}

Verdicts verdicts(const Examination &examination) {
    Verdicts out;
    for (const Finding &finding : examination.findings) out[finding.id] = finding.verdict;
    return out;
}

const Finding &finding(const Examination &examination, const std::string &id) {
    for (const Finding &one : examination.findings)
        if (one.id == id) return one;
    throw std::runtime_error("no check " + id);
}

std::string differences(const Verdicts &expected, const Verdicts &actual, const Examination &examination) {
    std::string out;
    for (const auto &[id, verdict] : actual) {
        const auto due = expected.find(id);
        if (due != expected.end() && due->second == verdict) continue;
        out += "  " + id + ": " + std::string(to_string(verdict)) + ", not " +
               std::string(due == expected.end() ? "there" : to_string(due->second)) + ": " +
               finding(examination, id).found + "\n";
    }
    return out;
}

TEST(Doctor, AGoodMachineHasNoWarningAndOnlyKnownDoubts) {
    test::FakeMachine machine;
    good_machine(machine);
    const Examination got = look_at(machine);
    const std::set<std::string> doubts = {"ecc.accelerators",    "pci.peer_probe",           "nvme.health",
                                          "cxl.health",          "accelerator.links",        "accelerator.partition",
                                          "accelerator.sharing", "accelerator.confidential", "storage.direct_alignment"};
    const std::set<std::string> elsewhere = {"accelerator.fabric"};
    for (const Finding &one : got.findings) {
        const Verdict due = doubts.contains(one.id)      ? Verdict::cannot_tell
                            : elsewhere.contains(one.id) ? Verdict::not_applicable
                                                         : Verdict::pass;
        EXPECT_EQ(to_string(one.verdict), to_string(due)) << one.id << ": " << one.found;
    }
    EXPECT_EQ(got.count(Verdict::cannot_tell), doubts.size());
}

TEST(Doctor, EachMachineComesToExactlyItsVerdicts) {
    test::FakeMachine good;
    good_machine(good);
    const Verdicts base = verdicts(look_at(good));
    ASSERT_GE(scenes().size(), 13u);
    for (const Scene &scene : scenes()) {
        test::FakeMachine machine;
        good_machine(machine);
        scene.change(machine);
        Verdicts expected = base;
        for (const auto &[id, verdict] : scene.expected) {
            ASSERT_TRUE(expected.contains(id)) << id;
            expected[id] = verdict;
        }
        const Examination got = look_at(machine);
        EXPECT_EQ(differences(expected, verdicts(got), got), "") << scene.name;
    }
}

TEST(Doctor, AnEmptyRootPassesNothing) {
    test::FakeMachine machine;
    for (const Finding &one : look_at(machine).findings)
        EXPECT_NE(one.verdict, Verdict::pass) << one.id << ": " << one.found;
}

TEST(Doctor, AnotherMachineIsNeverTakenForThisOne) {
    test::FakeMachine machine;
    good_machine(machine);
    machine.remove("proc/self").link("proc/self", "/proc/self").remove("usr/local/cuda-12.8");
    machine.link("usr/local/cuda-12.8", "/usr").remove("proc/swaps").link("proc/swaps", "/proc/swaps");
    const Examination got = look_at(machine);
    for (const char *id :
         {"host.privileges", "limits.memlock", "memory.swap", "cgroup.memory_max", "environment.visibility"})
        EXPECT_EQ(finding(got, id).verdict, Verdict::cannot_tell) << id << ": " << finding(got, id).found;
    EXPECT_THAT(finding(got, "memory.swap").found, HasSubstr("out of the machine's root"));
}

TEST(Doctor, EvidenceNamesFileAndValue) {
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("proc/sys/kernel/numa_balancing", "1\n");
    const Examination examination = look_at(machine);
    const Finding &got = finding(examination, "numa.balancing");
    ASSERT_EQ(got.evidence.size(), 1u);
    EXPECT_EQ(got.evidence[0].path, (machine.root() / "proc/sys/kernel/numa_balancing").string());
    EXPECT_EQ(got.evidence[0].value, "1");
    EXPECT_FALSE(got.why.empty() || got.remedy.empty());
    ASSERT_EQ(got.fixes.size(), 2u);
    EXPECT_EQ(got.fixes[0].command, "sysctl -w kernel.numa_balancing=0");
    EXPECT_FALSE(got.fixes[0].lasts);
    EXPECT_TRUE(got.fixes[1].lasts);
}

TEST(Doctor, ADeviceWithoutItsMakersProgramIsADoubtOrDoesNotApply) {
    test::FakeMachine machine;
    good_machine(machine);
    Examination got = look_at(machine);
    EXPECT_THAT(finding(got, "accelerator.links").found, AllOf(HasSubstr("NVLink"), HasSubstr("nvidia-smi")));
    for (const char *address : {"0000:02:00.0", "0000:03:00.0"}) {
        const std::string at = std::string("sys/bus/pci/devices/") + address;
        machine.remove(at);
    }
    got = look_at(machine);
    for (const char *id : {"accelerator.driver", "accelerator.links", "accelerator.partition", "pci.peer_probe",
                           "iommu.translation", "pci.acs_redirect", "ecc.accelerators", "versions.driver", "direct.storage"})
        EXPECT_EQ(finding(got, id).verdict, Verdict::not_applicable) << id << ": " << finding(got, id).found;
}

TEST(Doctor, TheOtherMakersDriverShowsMore) {
    test::FakeMachine machine;
    good_machine_of_other_maker(machine);
    EXPECT_EQ(finding(look_at(machine), "ecc.accelerators").verdict, Verdict::pass);
    EXPECT_EQ(finding(look_at(machine), "accelerator.partition").verdict, Verdict::pass);
    machine.file("sys/bus/pci/devices/0000:02:00.0/ras/umc_err_count", "ue: 1\nce: 0\n");
    machine.file("sys/bus/pci/devices/0000:03:00.0/current_compute_partition", "CPX\n");
    EXPECT_EQ(finding(look_at(machine), "ecc.accelerators").verdict, Verdict::fail);
    EXPECT_EQ(finding(look_at(machine), "accelerator.partition").verdict, Verdict::warn);
}

TEST(Doctor, MoreThatIsNotAsItShouldBe) {
    struct Wrong {
        const char *path, *text, *check;
        Verdict verdict;
    };
    for (const Wrong &wrong : {
             Wrong{"usr/lib/x86_64-linux-gnu/libcuda.so.550.54", "", "accelerator.driver_library", Verdict::fail},
             Wrong{"sys/bus/pci/devices/0000:02:00.0/aer_dev_fatal", "DLP 1\nTOTAL_ERR_FATAL 1\n", "pci.errors",
                   Verdict::fail},
             Wrong{"sys/bus/pci/devices/0000:02:00.0/current_link_speed", "2.5 GT/s PCIe\n", "pci.link_speed",
                   Verdict::warn},
             Wrong{"sys/bus/pci/devices/0000:02:00.0/resource1_resize", "0000000000008000\n", "pci.region_size",
                   Verdict::warn},
             Wrong{"dev/kmsg", "4,0,0,-;AMD-Vi: Event logged [IO_PAGE_FAULT device=02:00.0]\n", "iommu.faults",
                   Verdict::fail},
             Wrong{"dev/kmsg", "4,77,0,-;all is well\n", "iommu.faults", Verdict::cannot_tell},
             Wrong{"etc/cufile.json", "\"allow_compat_mode\": true,\n", "direct.storage_fallback", Verdict::warn},
             Wrong{"sys/class/nvme/nvme0/state", "resetting\n", "nvme.state", Verdict::fail},
             Wrong{"sys/class/nvme/nvme0/hwmon2/temp1_input", "84850\n", "nvme.temperature", Verdict::fail},
             Wrong{"sys/devices/system/memory/auto_online_blocks", "online_kernel\n", "cxl.online", Verdict::warn},
             Wrong{"sys/bus/cxl/devices/region0/commit", "0\n", "cxl.region", Verdict::warn},
             Wrong{"sys/block/nvme0n1/queue/scheduler", "none [bfq]\n", "storage.scheduler", Verdict::warn},
             Wrong{"proc/self/environ", "HOME=/root", "environment.visibility", Verdict::pass},
             Wrong{"proc/self/environ", "CUDA_VISIBLE_DEVICES=1", "environment.visibility", Verdict::warn},
             Wrong{"proc/self/environ", "ROCR_VISIBLE_DEVICES=1", "environment.visibility", Verdict::pass},
             Wrong{"proc/sys/vm/overcommit_memory", "2\n", "memory.overcommit", Verdict::warn},
             Wrong{"proc/meminfo", "MemTotal: 536870912 kB\nHardwareCorrupted: 4 kB\n", "ecc.broken_pages", Verdict::fail},
             Wrong{"proc/driver/nvidia/capabilities/gpu0/mig/gi3/access", "x", "accelerator.partition", Verdict::warn},
             Wrong{"tmp/nvidia-mps/control", "", "accelerator.sharing", Verdict::warn},
             Wrong{"proc/cmdline", "quiet init_on_alloc=1\n", "kernel.zeroed_pages", Verdict::warn},
         }) {
        test::FakeMachine machine;
        good_machine(machine);
        machine.file(wrong.path, wrong.text);
        const auto got = look_at(machine);
        EXPECT_EQ(to_string(finding(got, wrong.check).verdict), to_string(wrong.verdict))
            << wrong.path << ": " << finding(got, wrong.check).found;
    }
}

TEST(Doctor, ReportsSayTheSame) {
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("proc/sys/kernel/numa_balancing", "1\n").file("sys/devices/system/edac/mc/mc0/ue_count", "2\n");
    const Examination got = look_at(machine);
    EXPECT_THAT(got.summary(),
                testing::MatchesRegex("doctor: [0-9]+ pass, 1 warn, 1 fail, [0-9]+ not applicable, [0-9]+ cannot tell"));
    const std::string text = report_text(got), json = report_json(got), fixes = report_fixes(got);
    EXPECT_THAT(text, AllOf(HasSubstr(got.summary() + "\n"), HasSubstr("fail ecc.memory: mc0: 2 uncorrected"),
                            Not(HasSubstr("\x1b"))));
    EXPECT_THAT(json, AllOf(HasSubstr("\"verdict\": \"cannot_tell\""), HasSubstr("\"fail\": 1")));
    EXPECT_THAT(fixes, AllOf(HasSubstr("\nsysctl -w kernel.numa_balancing=0\n"), HasSubstr("does not survive a reboot"),
                             HasSubstr("; survives a reboot"), HasSubstr("# ecc.memory (fail)")));
}

TEST(Doctor, AHostileTextSteersNoTerminal) {
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("sys/class/nvme/nvme0/model", "\x1b[2Jx\n").file("sys/block/nvme0n1/queue/scheduler", "\x1b]0;x\x07\n");
    EXPECT_THAT(report_text(look_at(machine)), Not(HasSubstr("\x1b")));
    EXPECT_EQ(finding(look_at(machine), "storage.scheduler").verdict, Verdict::cannot_tell);
}

TEST(Doctor, ChecksAreChosenByNameOrFamily) {
    EXPECT_EQ(choose_checks({"numa.balancing"})->size(), 1u);
    EXPECT_EQ(choose_checks({"memory"})->size(), memory_checks().size());
    EXPECT_THAT(choose_checks({"numa.balncing"}).error(), HasSubstr("did you mean \"numa.balancing\""));
    std::set<std::string_view> ids;
    for (const Check &check : all_checks()) {
        EXPECT_TRUE(ids.insert(check.id).second) << check.id;
        for (const auto &text : {check.title, check.reads, check.why, check.remedy}) EXPECT_FALSE(text.empty()) << check.id;
    }
}

TEST(Doctor, ThisMachineIsLookedAtWithoutHarm) {
    const auto got = preflight();
    EXPECT_EQ(got.findings.size(), all_checks().size());
    EXPECT_NE(finding(got, "kernel.version").verdict, Verdict::not_applicable);
}

} // namespace
} // namespace hbf::tools::doctor
