// SPDX-License-Identifier: Apache-2.0
// The command itself, started as people start it.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "core/output/json.hpp"

namespace hbf::tools {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

struct Finished {
    int exit = -1;
    std::string out;
    std::string last_line() const {
        const size_t end = out.find_last_not_of('\n'), start = out.find_last_of('\n', end);
        return end == std::string::npos ? ""
                                        : out.substr(start == std::string::npos ? 0 : start + 1,
                                                     end - (start == std::string::npos ? 0 : start + 1) + 1);
    }
};

Finished shell(const std::string &command) {
    Finished run;
    FILE *const pipe = popen(command.c_str(), "r");
    char block[4096];
    for (size_t count; pipe && (count = fread(block, 1, sizeof block, pipe)) > 0;) run.out.append(block, count);
    const int status = pipe ? pclose(pipe) : -1;
    run.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return run;
}

class ProbeCommand : public testing::Test {
protected:
    std::string environment(const std::string &path) const {
        return fmt::format("env -u HBF_PLUGINS -u HBF_PLUGIN_PIN HOME={0} XDG_CACHE_HOME={0}/cache "
                           "XDG_CONFIG_HOME={0}/config HBF_PLUGIN_PATH={1} ",
                           scene.top().string(), path);
    }
    Finished hbf(const fs::path &folder, const std::string &arguments, const std::string &more = "") const {
        return shell(environment(folder.string()) + more + " " + HBF_TOOL + " probe " + arguments);
    }
    Scene scene;
};

TEST_F(ProbeCommand, OneGoodPluginAmongAllTheHostileOnes) {
    const auto expected = hostile::stage_everything(scene);
    std::string path;
    for (const auto &folder : expected.path) path += (path.empty() ? "" : ":") + folder.string();
    const auto run = hbf(path, "--explain --json", "HBF_PROBE_TIMEOUT=5");
    EXPECT_EQ(run.exit, 0);
    const auto json = Json::parse(run.out);
    ASSERT_TRUE(json) << json.error();
    EXPECT_EQ(json->get("plugin")->text(), "good");
    EXPECT_EQ(json->get("summary")->text(), "HBF ready: good 1.9.0, 1 tier");
    std::map<std::string, std::string> reasons;
    const auto candidates = json->get("candidates");
    for (size_t i = 0; i < candidates->size(); ++i)
        reasons[*candidates->at(i)->get("name")->text()] = *candidates->at(i)->get("reason")->text();
    EXPECT_EQ(reasons, expected.reasons);
}

TEST_F(ProbeCommand, TextEndsWithTheVerdict) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    scene.plugin(folder, "probe_segv");
    const Finished plain = hbf(folder, "2>&1");
    EXPECT_EQ(plain.exit, 0);
    EXPECT_EQ(plain.last_line(), "HBF ready: good 1.9.0, 1 tier");
    EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << "no colour into a pipe, and none of a plugin's";
    EXPECT_EQ(plain.out.find("probe_crashed"), std::string::npos);
    const Finished explained = hbf(folder, "--explain 2>&1");
    EXPECT_NE(explained.out.find("probe_crashed"), std::string::npos);
    EXPECT_NE(explained.out.find("crashed with SIGSEGV in probe"), std::string::npos);
    EXPECT_EQ(explained.last_line(), "HBF ready: good 1.9.0, 1 tier");
}

TEST_F(ProbeCommand, FileNamesAndVariablesCannotSteerTheTerminal) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    for (const char *name : {"a\x1b[31m\nHBF ready: fake 9.9, 9 tiers\xff.plugin.toml", "b\x1b[31m\nHBF ready: fake.so"})
        std::ofstream(folder / name) << "";
    for (const char *arguments : {"--explain 2>&1", "--json"}) {
        const Finished run = hbf(folder, arguments);
        EXPECT_EQ(run.exit, 0);
        EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << run.out;
        EXPECT_EQ(run.out.find("\nHBF ready: fake"), std::string::npos) << run.out;
        EXPECT_EQ(run.out.find('\xff'), std::string::npos) << run.out;
    }
    const Finished variable = hbf(folder, "2>&1", "HBF_PLUGINS=$(printf 'x\\033[31m')");
    EXPECT_EQ(variable.exit, 3);
    EXPECT_EQ(variable.out.find('\x1b'), std::string::npos) << variable.out;
}

TEST_F(ProbeCommand, ClosedStandardDescriptorsAreSurvived) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    const std::string command = environment(folder.string()) + HBF_TOOL + " probe ";
    EXPECT_EQ(shell("sh -c '" + command + "<&- 2>&-'").exit, 0);
    EXPECT_EQ(shell("sh -c '" + command + "<&- >&- 2>&-'").exit, 3) << "the output is lost";
    EXPECT_EQ(shell("sh -c '" + command + ">&-' 2>&1").exit, 3);
    EXPECT_EQ(hbf(folder, "2>&-", "HBF_PLUGINS=nobody").exit, 3) << "nor does an error without stderr crash it";
}

TEST_F(ProbeCommand, WhatMayNotBeReadIsCalledSo) {
    if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    fs::permissions(folder / "good.plugin.toml", fs::perms::none);
    const Finished run = hbf(folder, "--explain 2>&1");
    EXPECT_NE(run.out.find("permission_denied"), std::string::npos) << run.out;
}

TEST_F(ProbeCommand, NotReadyIsSaidAndExitsWithOne) {
    const auto folder = scene.folder("plugins");
    EXPECT_EQ(hbf(folder, "").exit, 1);
    EXPECT_EQ(hbf(folder, "").last_line().substr(0, 15), "HBF not ready: ");
    scene.plugin(folder, "probe_segv");
    EXPECT_NE(hbf(folder, "").last_line().find("probe_segv"), std::string::npos);
}

TEST_F(ProbeCommand, MistakesAreErrors) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    scene.plugin(folder, "probe_segv");
    const Finished unknown = hbf(folder, "2>&1", "HBF_PLUGINS=goood");
    EXPECT_EQ(unknown.exit, 3);
    EXPECT_NE(unknown.out.find("did you mean \"good\"?"), std::string::npos) << unknown.out;
    const Finished pin = hbf(folder, "--explain 2>&1", "HBF_PLUGIN_PIN=probe_segv");
    EXPECT_EQ(pin.exit, 1);
    EXPECT_NE(
        pin.last_line().find("HBF not ready: HBF_PLUGIN_PIN: the pinned plugin \"probe_segv\" cannot serve: probe_crashed"),
        std::string::npos)
        << pin.out;
    EXPECT_NE(pin.out.find("selected"), std::string::npos) << "the table is shown all the same";
    const Finished relative = hbf("plugins", "2>&1");
    EXPECT_EQ(relative.exit, 3);
    EXPECT_NE(relative.out.find("not an absolute path"), std::string::npos) << relative.out;
    EXPECT_EQ(hbf(folder, "--root /nonexistent 2>&1").exit, 2);
    const Finished json = hbf(folder, "--json", "HBF_PLUGINS=goood");
    EXPECT_EQ(json.exit, 3);
    EXPECT_TRUE(Json::parse(json.out)) << json.out;
}

TEST_F(ProbeCommand, AnUntrustedPluginOnlyOnRequestAndWithAWarning) {
    const auto folder = scene.folder("open", 0777);
    scene.plugin(folder, "good");
    EXPECT_EQ(hbf(folder, "").exit, 1);
    const Finished asked = hbf(folder, "2>&1", "HBF_ALLOW_UNTRUSTED=true");
    EXPECT_EQ(asked.exit, 0) << asked.out;
    const size_t warning = asked.out.find("plugin good is used although others could change it");
    EXPECT_NE(warning, std::string::npos) << asked.out;
    EXPECT_EQ(asked.out.find("plugin good is used", warning + 1), std::string::npos) << "once: " << asked.out;
}

TEST_F(ProbeCommand, ASecondRunUsesTheCacheUntilSomethingChanges) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    const auto cached = [&](const std::string &arguments = "") {
        return hbf(folder, arguments).out.find("from an earlier probe") != std::string::npos;
    };
    EXPECT_FALSE(cached());
    EXPECT_TRUE(cached());
    EXPECT_FALSE(cached("--no-cache"));
    std::ofstream(folder / "good.so", std::ios::app) << "one byte more";
    EXPECT_FALSE(cached());
    EXPECT_TRUE(cached());
}

TEST_F(ProbeCommand, SigintLeavesNothing) {
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    scene.plugin(folder, "probe_hang");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1); // its end of file says that no process of the run is left
        close(ends[0]);
        close(ends[1]);
        const std::string command =
            "exec " + environment(folder.string()) + "HBF_PROBE_TIMEOUT=60 " + HBF_TOOL + " probe 2>/dev/null";
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    close(ends[1]);
    // A probe of ours is running once a process has that program and our process as parent.
    const auto running = [&] {
        std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", child));
        int id = 0;
        while (children >> id) {
            std::string name;
            std::getline(std::ifstream(fmt::format("/proc/{}/comm", id)), name);
            if (name == "hbf-probe") return id;
        }
        return 0;
    };
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int probe = 0;
    while (!(probe = running()) && std::chrono::steady_clock::now() < limit) usleep(1000);
    ASSERT_NE(probe, 0);
    kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT) << status;
    EXPECT_NE(kill(probe, 0), 0) << "the probe still runs";
    close(ends[0]);
    size_t files = 0;
    for (const auto &entry : fs::recursive_directory_iterator(scene.top() / "cache")) {
        if (entry.is_regular_file()) ++files;
    }
    EXPECT_EQ(files, 0u);
}

TEST_F(ProbeCommand, AnOrdinaryUserNeedsNothingOfRoots) {
    if (geteuid() != 0) GTEST_SKIP() << "the other tests run as an ordinary user already";
    if (shell("command -v setpriv").exit != 0) GTEST_SKIP() << "no setpriv here";
    if (shell(fmt::format("setpriv --reuid 12345 --regid 12345 --clear-groups test -x {}", HBF_TOOL)).exit != 0) {
        GTEST_SKIP() << "another user cannot reach " << HBF_TOOL;
    }
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    scene.plugin(folder, "mine");
    chmod(scene.top().c_str(), 0755);
    ASSERT_EQ(chown((folder / "mine.so").c_str(), 12345, 12345), 0);
    const Finished run = shell(environment(folder.string()) + "setpriv --reuid 12345 --regid 12345 --clear-groups " +
                               HBF_TOOL + " probe --explain 2>&1");
    EXPECT_EQ(run.exit, 0) << run.out;
    EXPECT_EQ(run.last_line(), "HBF ready: good 1.9.0, 1 tier") << run.out;
    EXPECT_EQ(run.out.find("untrusted_path"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("no probe cache"), std::string::npos) << "its HOME is root's here, and that is said: " << run.out;
}

} // namespace
} // namespace hbf::tools
