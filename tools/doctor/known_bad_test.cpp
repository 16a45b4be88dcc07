// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/doctor/doctor.hpp"
#include "tools/doctor/testing/machines.hpp"

namespace hbf::tools::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string entry = "[[bad]]\nid = \"x\"\ncomponent = \"nvidia-open\"\nversions = \">=570 <571\"\nverdict = \"fail\"\n"
                          "status = \"proven\"\nsymptom = \"s\"\nremedy = \"r\"\nsource = \"https://example.org/1\"\n"
                          "checked = 2026-11-29\n";

std::string replaced(std::string text, const std::string &what, const std::string &with) {
    text.replace(text.find(what), what.size(), with);
    return text;
}

Finding look_at(const char *check, const KnownBad &list, const std::string &path = "", const std::string &text = "") {
    test::FakeMachine machine;
    good_machine(machine);
    if (!path.empty()) machine.file(path, text);
    return examine(machine.root(), *choose_checks({check}), list).findings.at(0);
}

std::string driver(const std::string &version) {
    return "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + version + "  Release Build  (dvs)\n";
}

TEST(KnownBad, TheListOfTheInstallationIsReadAndEveryEntryHasItsSource) {
    const auto list = load_known_bad(HBF_KNOWN_BAD);
    ASSERT_TRUE(list) << list.error();
    EXPECT_GE(list->entries.size(), 8u);
    for (const BadVersion &one : list->entries) EXPECT_THAT(one.source, StartsWith("https://")) << one.id;
}

TEST(KnownBad, AProvenEntryFailsAndAnUnconfirmedOneWarns) {
    const KnownBad list = *load_known_bad(HBF_KNOWN_BAD);
    const Finding proven = look_at("versions.driver", list, "proc/driver/nvidia/version", driver("580.142"));
    EXPECT_EQ(proven.verdict, Verdict::fail);
    EXPECT_THAT(proven.found, HasSubstr("https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1257"));
    const Finding claimed = look_at("versions.runtime", list, "usr/local/cuda-12.8/version.json",
                                    "{\"cuda\" : {\"name\" : \"CUDA SDK\", \"version\" : \"12.1.0\"}}\n");
    EXPECT_EQ(claimed.verdict, Verdict::warn);
    EXPECT_THAT(claimed.found, HasSubstr("unconfirmed: run hbf corruption"));
    for (const char *good : {"580.95.05", "580.1420", "58.0142"})
        EXPECT_EQ(look_at("versions.driver", list, "proc/driver/nvidia/version", driver(good)).verdict, Verdict::pass)
            << good;
    EXPECT_EQ(look_at("versions.driver", list, "proc/driver/nvidia/version",
                      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.142  Tue\n")
                  .verdict,
              Verdict::pass)
        << "the other kind of the module";
}

TEST(KnownBad, WhatTakesTwoDevicesIsNoFaultOfOne) {
    const KnownBad list = *load_known_bad(HBF_KNOWN_BAD);
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("proc/driver/nvidia/version", driver("580.142")).remove("sys/bus/pci/devices/0000:03:00.0");
    EXPECT_EQ(examine(machine.root(), *choose_checks({"versions.driver"}), list).findings.at(0).verdict, Verdict::pass);
}

TEST(KnownBad, TheKernelIsJudgedByItsOrigin) {
    const KnownBad list = *load_known_bad(HBF_KNOWN_BAD);
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("proc/sys/kernel/osrelease", "6.1.0-14-amd64\n");
    const auto verdict = [&](const std::string &version) {
        machine.file("proc/version",
                     "Linux version 6.1.0-14-amd64 (x) #1 SMP PREEMPT_DYNAMIC Debian " + version + " (2023)\n");
        return examine(machine.root(), *choose_checks({"versions.kernel"}), list).findings.at(0).verdict;
    };
    EXPECT_EQ(verdict("6.1.64-1"), Verdict::fail);
    EXPECT_EQ(verdict("6.1.66-1"), Verdict::pass);
    machine.file("proc/version_signature", "Ubuntu 6.1.0-14.14-generic 6.1.65\n");
    EXPECT_EQ(verdict("6.1.66-1"), Verdict::fail);
    machine.file("proc/version_signature", "nothing of the kind\n");
    EXPECT_EQ(verdict("6.1.66-1"), Verdict::cannot_tell);
}

TEST(KnownBad, FirmwareIsComparedByItsName) {
    const KnownBad list = *load_known_bad(HBF_KNOWN_BAD);
    test::FakeMachine machine;
    good_machine(machine);
    machine.file("sys/class/nvme/nvme0/model", "Samsung SSD 980 PRO 2TB                 \n");
    for (const auto &[firmware, due] : {std::pair{"3B2QGXA7\n", Verdict::warn}, std::pair{"5B2QGXA7\n", Verdict::pass}}) {
        machine.file("sys/class/nvme/nvme0/firmware_rev", firmware);
        EXPECT_EQ(examine(machine.root(), *choose_checks({"versions.firmware"}), list).findings.at(0).verdict, due)
            << firmware;
    }
}

TEST(KnownBad, WithoutAListNoVersionPasses) {
    KnownBad none;
    none.error = "/x/known_bad.toml: No such file or directory";
    for (const char *check : {"versions.kernel", "versions.driver", "versions.runtime", "versions.firmware"}) {
        const Finding got = look_at(check, none);
        EXPECT_EQ(got.verdict, Verdict::cannot_tell) << check;
        EXPECT_THAT(got.found, HasSubstr(none.error));
    }
}

TEST(KnownBad, ABadFileIsAnErrorWithItsPlace) {
    ASSERT_TRUE(parse_known_bad(entry, "f"));
    struct Wrong {
        std::string text, place, says;
    };
    for (const Wrong &wrong : {
             Wrong{"[[bad]\n", "f:1:", ""},
             Wrong{"x = 1\n", "f:1:1", "'x' is not known here"},
             Wrong{"bad = [1]\n", "f:1:8", "an entry is a table"},
             Wrong{entry + "colour = \"red\"\n", "f:11:1", "unknown key 'colour'"},
             Wrong{replaced(entry, "versions =", "verisons ="), "f:4:1", "did you mean \"versions\""},
             Wrong{replaced(entry, "remedy = \"r\"\n", ""), "f:1:", "'remedy' is missing"},
             Wrong{replaced(entry, "\"s\"", "\"\""), "f:7:11", "'symptom' is empty"},
             Wrong{replaced(entry, "\"s\"", "7"), "f:7:11", "'symptom' is an integer, not a string"},
             Wrong{replaced(entry, ">=570 <571", "~570"), "f:4:12", "no list of comparisons"},
             Wrong{replaced(entry, "nvidia-open", "nvidia-opne"), "f:3:13", "did you mean \"nvidia-open\""},
             Wrong{replaced(entry, "\"fail\"", "\"pass\""), "f:5:11", "is none of warn, fail"},
             Wrong{replaced(entry, "\"proven\"", "\"unconfirmed\""), "f:5:11", "unconfirmed fails no machine"},
             Wrong{replaced(entry, "https:", "http:"), "f:9:10", "no https address"},
             Wrong{replaced(entry, "2026-11-29", "\"today\""), "f:10:11", "'checked' is a string"},
             Wrong{entry + "devices = 0\n", "f:11:11", "1..1024"},
             Wrong{entry + "model = \"X\"\n", "f:3:13", "belongs to nvme-firmware only"},
             Wrong{entry + entry, "f:12:6", "there twice"},
             Wrong{std::string("\0binary", 7), "f", ""},
         }) {
        const auto got = parse_known_bad(wrong.text, "f");
        ASSERT_FALSE(got) << wrong.text;
        EXPECT_THAT(got.error(), AllOf(StartsWith(wrong.place), HasSubstr(wrong.says)));
    }
    EXPECT_THAT(load_known_bad("/nowhere/list.toml").error(), HasSubstr("/nowhere/list.toml"));
}

} // namespace
} // namespace hbf::tools::doctor
