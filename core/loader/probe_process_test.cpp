// SPDX-License-Identifier: Apache-2.0
// The probe process from outside: what it leaves behind, how it is judged, and what others' settings do to it.
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/loader/hostile/scene.hpp"
#include "core/loader/install_paths.hpp"
#include "core/loader/probe_key.hpp"
#include "core/loader/probe_process.hpp"

namespace hbf::loader {
namespace {

using hostile::Scene;
namespace fs = std::filesystem;

ProbeJob job_for(const Scene &scene, const std::string &name) {
    ProbeJob job;
    job.request.plugin_file = (scene.top() / (name + ".so")).string();
    job.request.name = name;
    job.request.root = "/";
    job.request.parent = getpid();
    struct stat facts = {};
    if (stat(job.request.plugin_file.c_str(), &facts) == 0) job.request.identity = FileIdentity::of(facts);
    job.environment = probe_environment({});
    return job;
}

class ProbeProcess : public testing::Test {
protected:
    ProbeOutcome probe(const std::string &name, std::chrono::milliseconds time = std::chrono::seconds(30)) {
        hostile::write_bytes(scene.top() / (name + ".so"), hostile::read_bytes(hostile::built() / "chameleon.so"));
        ProbeLimits limits;
        limits.time = time;
        const auto outcomes = run_probes(install_paths().probe, {job_for(scene, name)}, limits);
        EXPECT_TRUE(outcomes) << outcomes.error().message;
        return outcomes ? outcomes->at(0) : ProbeOutcome{};
    }
    // The number of the helper that the plugin left; waits for it.
    int helper_of(const std::string &name) const {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        int number = 0;
        while (!(std::ifstream(scene.top() / (name + ".so.helper")) >> number) && std::chrono::steady_clock::now() < limit)
            usleep(1000);
        EXPECT_GT(number, 0);
        return number;
    }
    Scene scene;
};

size_t open_descriptors() {
    size_t count = 0;
    for ([[maybe_unused]] const auto &entry : fs::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

int parent_of(int process) {
    std::ifstream stat_file("/proc/" + std::to_string(process) + "/stat");
    int id = 0, parent = 0;
    std::string name, state;
    stat_file >> id >> name >> state >> parent;
    return parent;
}

// Waits for a process of the probe program to be gone, or dead and not yet collected.
bool is_over(int process) {
    const auto gone = [&] {
        std::ifstream stat_file("/proc/" + std::to_string(process) + "/stat");
        int id = 0;
        std::string name, state;
        return !(stat_file >> id >> name >> state) || state == "Z" || state == "X" ||
               name.find("hbf-probe") == std::string::npos;
    };
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!gone() && std::chrono::steady_clock::now() < limit) usleep(1000);
    return gone();
}

bool has_children() {
    return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

TEST_F(ProbeProcess, AGoodAnswerComesBackWhole) {
    const ProbeOutcome outcome = probe("good");
    EXPECT_TRUE(outcome.answered);
    EXPECT_EQ(outcome.record.reason, Reason::selected) << outcome.record.detail;
    EXPECT_EQ(outcome.record.vendor, "Test");
    EXPECT_EQ(outcome.record.version, "1.9.0");
    EXPECT_GT(outcome.milliseconds, 0);
}

TEST_F(ProbeProcess, NothingIsLeftBehind) {
    probe("good");
    const size_t before = open_descriptors();
    for (const char *name : {"good", "probe_segv", "constructor_exit0", "query_throw", "probe_flood"}) probe(name);
    probe("create_hang", std::chrono::milliseconds(300));
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
}

TEST_F(ProbeProcess, ItsHelpersEndWithIt) {
    for (const char *name : {"probe_fork", "probe_setsid"}) {
        const ProbeOutcome outcome = probe(name);
        EXPECT_EQ(outcome.record.reason, Reason::selected) << outcome.record.detail;
        EXPECT_LT(outcome.milliseconds, 20'000) << "a helper must not hold it up";
        EXPECT_TRUE(is_over(helper_of(name))) << name;
    }
}

TEST_F(ProbeProcess, AHelperInItsOwnSessionDoesNotOutliveAProbeThatIsStopped) {
    const ProbeOutcome outcome = probe("create_setsidhang", std::chrono::seconds(2));
    EXPECT_EQ(outcome.record.reason, Reason::create_failed) << outcome.record.detail;
    EXPECT_TRUE(is_over(helper_of("create_setsidhang")));
}

TEST_F(ProbeProcess, TheTimeLimitHolds) {
    const ProbeOutcome outcome = probe("query_hang", std::chrono::milliseconds(200));
    EXPECT_EQ(outcome.record.reason, Reason::probe_timeout);
    EXPECT_NE(outcome.record.detail.find(" within 0.2 s"), std::string::npos) << outcome.record.detail;
    EXPECT_GE(outcome.milliseconds, 150);
}

TEST_F(ProbeProcess, AFileThatChangedIsNotRun) {
    hostile::write_bytes(scene.top() / "good.so", hostile::read_bytes(hostile::built() / "chameleon.so"));
    ProbeJob job = job_for(scene, "good");
    job.request.identity.inode += 1;
    const auto outcomes = run_probes(install_paths().probe, {job}, {});
    ASSERT_TRUE(outcomes);
    EXPECT_EQ(outcomes->at(0).record.reason, Reason::probe_failed);
    EXPECT_NE(outcomes->at(0).record.detail.find("changed"), std::string::npos);
}

TEST_F(ProbeProcess, AProgramThatIgnoresItsChildrenGetsAnAnswerToo) {
    struct sigaction ignore = {}, before = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &ignore, &before);
    const ProbeOutcome good = probe("good"), bad = probe("probe_exit1");
    sigaction(SIGCHLD, &before, nullptr);
    EXPECT_EQ(good.record.reason, Reason::selected) << good.record.detail;
    EXPECT_EQ(bad.record.reason, Reason::probe_failed);
    EXPECT_NE(bad.record.detail.find("SIGCHLD"), std::string::npos) << bad.record.detail;
}

TEST_F(ProbeProcess, BlockedSignalsAndLeakedDescriptorsStayHere) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int leaked = dup(0);
    const ProbeOutcome outcome = probe("probe_abort");
    close(leaked);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(outcome.record.reason, Reason::probe_crashed) << outcome.record.detail;
    EXPECT_NE(outcome.record.detail.find("SIGABRT"), std::string::npos);
}

TEST_F(ProbeProcess, ManyRunSideBySideAndKeepTheirPlaces) {
    std::vector<ProbeJob> jobs;
    for (int i = 0; i < 40; ++i) {
        const std::string name = i % 3 == 0 ? "probe_segv" : i % 3 == 1 ? "good" : "answer_busy";
        if (i < 3)
            hostile::write_bytes(scene.top() / (name + ".so"), hostile::read_bytes(hostile::built() / "chameleon.so"));
        jobs.push_back(job_for(scene, name));
    }
    const auto outcomes = run_probes(install_paths().probe, jobs, {});
    ASSERT_TRUE(outcomes);
    const Reason wanted[] = {Reason::probe_crashed, Reason::selected, Reason::device_busy};
    for (size_t i = 0; i < jobs.size(); ++i)
        EXPECT_EQ((*outcomes)[i].record.reason, wanted[i % 3]) << i << (*outcomes)[i].record.detail;
}

TEST_F(ProbeProcess, AProgramThatCannotBeStartedIsAnError) {
    const auto outcomes = run_probes(scene.top() / "missing", {job_for(scene, "good")}, {});
    ASSERT_FALSE(outcomes);
    EXPECT_NE(outcomes.error().message.find("missing"), std::string::npos);
}

// A loader that is killed takes its probe with it, and what that started.
TEST_F(ProbeProcess, NoProbeOutlivesItsLoader) {
    hostile::write_bytes(scene.top() / "probe_setsidhang.so", hostile::read_bytes(hostile::built() / "chameleon.so"));
    const pid_t loader = fork();
    if (loader == 0) {
        ProbeJob job = job_for(scene, "probe_setsidhang");
        job.request.parent = getpid();
        ProbeLimits limits;
        limits.time = std::chrono::seconds(60);
        (void)run_probes(install_paths().probe, {job}, limits);
        _exit(0);
    }
    const int helper = helper_of("probe_setsidhang"), looks = parent_of(helper), above = parent_of(looks);
    EXPECT_EQ(parent_of(above), loader);
    kill(loader, SIGKILL);
    waitpid(loader, nullptr, 0);
    for (const int process : {helper, looks, above}) EXPECT_TRUE(is_over(process)) << "process " << process;
}

} // namespace
} // namespace hbf::loader
