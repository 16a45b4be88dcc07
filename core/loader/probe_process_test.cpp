// SPDX-License-Identifier: Apache-2.0
// The probe process from outside: what it leaves behind, how it is judged, and what others' settings do to it.
#include <csignal>
#include <fstream>

#include <dirent.h>
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
    Scene scene;
};

size_t open_descriptors() {
    size_t count = 0;
    for ([[maybe_unused]] const auto &entry : fs::directory_iterator("/proc/self/fd")) ++count;
    return count;
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
    const ProbeOutcome outcome = probe("probe_fork");
    EXPECT_EQ(outcome.record.reason, Reason::selected) << outcome.record.detail;
    EXPECT_LT(outcome.milliseconds, 20'000) << "a helper must not hold it up";
    ASSERT_EQ(outcome.record.notes.size(), 1u);
    const std::string &note = outcome.record.notes[0];
    EXPECT_TRUE(is_over(std::stoi(note.substr(note.rfind(' ') + 1)))) << note;
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

// A loader that is killed takes its probe with it.
TEST_F(ProbeProcess, NoProbeOutlivesItsLoader) {
    hostile::write_bytes(scene.top() / "probe_hang.so", hostile::read_bytes(hostile::built() / "chameleon.so"));
    // The probe inherits `alive` through nothing but its standard output... so it is watched by its own lock on a file.
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t loader = fork();
    if (loader == 0) {
        close(ends[0]);
        ProbeJob job = job_for(scene, "probe_hang");
        job.request.parent = getpid();
        ProbeLimits limits;
        limits.time = std::chrono::seconds(60);
        int asked = 0;
        limits.cancelled = [&] {
            if (++asked == 10) { // the probe has been running for a while: tell the test its number
                DIR *const list = opendir("/proc");
                while (const dirent *entry = list ? readdir(list) : nullptr) {
                    std::ifstream stat_file("/proc/" + std::string(entry->d_name) + "/stat");
                    int id = 0, parent = 0;
                    std::string name, state;
                    if (stat_file >> id >> name >> state >> parent && parent == getpid() &&
                        write(ends[1], &id, sizeof id) < 0)
                        _exit(1);
                }
            }
            return false;
        };
        (void)run_probes(install_paths().probe, {job}, limits);
        _exit(0);
    }
    close(ends[1]);
    int probe = 0;
    ASSERT_EQ(read(ends[0], &probe, sizeof probe), static_cast<ssize_t>(sizeof probe));
    close(ends[0]);
    kill(loader, SIGKILL);
    waitpid(loader, nullptr, 0);
    EXPECT_TRUE(is_over(probe)) << "process " << probe;
}

} // namespace
} // namespace hbf::loader
