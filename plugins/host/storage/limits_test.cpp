// SPDX-License-Identifier: Apache-2.0
// Under limits: little pinnable memory, no io_uring, small files, a full disk. Each in a process of its own.
#include <cstddef>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hbf/sdk/shell/build_facts.hpp"
#include "testing.hpp"
#include "uring_engine.hpp"

namespace hbf::host {
namespace {

using namespace testing;

constexpr int skip = 77;

std::unique_ptr<StorageTier> open_at(const std::string &path, const sdk::Log &log = {}, uint64_t capacity = 256 << 20) {
    StorageOptions options;
    options.path = path;
    options.capacity = capacity;
    return StorageTier::open(options, log);
}

hbf_tier_info describe(const StorageTier &tier) {
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    tier.describe(info);
    return info;
}

bool works(StorageTier &tier, std::byte *memory, uint64_t size) {
    auto file = tier.create(size, "", false);
    auto channel = tier.create_channel(4);
    auto data = pattern(1, 0, size);
    std::memcpy(memory, data.data(), size);
    if (write(*channel, *file, 0, memory, size).status != HBF_OK) return false;
    std::memset(memory, 0, size);
    return read(*channel, *file, 0, memory, size).status == HBF_OK && std::memcmp(memory, data.data(), size) == 0;
}

TEST(Limits, LittlePinnableMemoryIsUsedUpAndSaid) {
    if (auto failure = failure_of([] { make_uring_engine(1); }); failure.status != HBF_OK) GTEST_SKIP() << failure.message;
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  const rlimit limit{4 << 20, 4 << 20};
                  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 1;
                  auto tier = open_at(scratch.path());
                  auto channel = tier->create_channel(4);
                  auto memory = aligned_bytes(16 << 20);
                  tier->register_memory(memory.get(), 16 << 20);
                  const std::string detail = describe(*tier).detail;
                  const bool partly =
                      detail.find("of 16 MiB registered in 1 queues (at most 4 MiB each)") != std::string::npos;
                  if (!partly || detail.find("16 MiB of 16 MiB") != std::string::npos) {
                      std::fprintf(stderr, "detail: %s\n", detail.c_str());
                      return 2;
                  }
                  return works(*tier, memory.get(), 16 << 20) ? 0 : 3;
              }),
              0);
}

TEST(Limits, NoPinnableMemoryAtAll) {
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  const rlimit limit{0, 0};
                  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 1;
                  auto tier = open_at(scratch.path());
                  auto memory = aligned_bytes(4 << 20);
                  tier->register_memory(memory.get(), 4 << 20);
                  return works(*tier, memory.get(), 4 << 20) ? 0 : 3;
              }),
              0);
}

// Of an ordinary user: registered memory uses up what may be locked, and a ring wants some too.
TEST(Limits, ChannelsBeyondTheLockableMemoryWork) {
    if (auto failure = failure_of([] { make_uring_engine(1); }); failure.status != HBF_OK) GTEST_SKIP() << failure.message;
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  KeptLog log;
                  auto tier = open_at(scratch.path(), log.log());
                  auto file = tier->create(1 << 20, "", false);
                  const rlimit limit{4 << 20, 4 << 20};
                  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 1;
                  constexpr unsigned nobody = 64646; // no account has this number
                  if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) return 2;
                  auto memory = aligned_bytes(16 << 20);
                  tier->register_memory(memory.get(), 16 << 20);
                  std::vector<std::unique_ptr<StorageChannel>> channels;
                  for (int i = 0; i < 8; ++i) channels.push_back(tier->create_channel(4));
                  auto data = pattern(1, 0, 1 << 20);
                  std::memcpy(memory.get(), data.data(), data.size());
                  for (auto &channel : channels)
                      if (write(*channel, *file, 0, memory.get(), data.size()).status != HBF_OK) return 3;
                  return 0;
              }),
              0);
}

// As a container's filter does it.
bool forbid_io_uring(int error) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, filter};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Limits, RefusedIoUringFallsBackToThreadsAndSaysSo) {
    ScratchDirectory scratch;
    for (auto [refusal, said] : {std::pair{EPERM, "seccomp"}, {ENOSYS, "no io_uring"}}) {
        EXPECT_EQ(in_child([&, error = refusal, word = said] {
                      if (!forbid_io_uring(error)) return skip;
                      KeptLog log;
                      auto tier = open_at(scratch.path(), log.log());
                      hbf_tier_info info = describe(*tier);
                      if (!(info.flags & HBF_TIER_FLAG_DEGRADED)) return 1;
                      if (std::string(info.detail).find(word) == std::string::npos) return 2;
                      if (log.text().find(word) == std::string::npos) return 3;
                      auto memory = aligned_bytes(4 << 20);
                      return works(*tier, memory.get(), 4 << 20) ? 0 : 4;
                  }),
                  0)
            << said;
    }
}

TEST(Limits, FileSizeLimitIsExhaustedNotASignal) {
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  const rlimit limit{1 << 20, 1 << 20};
                  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
                  auto tier = open_at(scratch.path());
                  auto failure = failure_of([&] { tier->create(2 << 20, "", false); });
                  if (failure.status != HBF_EXHAUSTED || failure.message.find("ulimit -f") == std::string::npos) return 2;
                  if (describe(*tier).available != describe(*tier).capacity) return 4; // what was refused took space
                  auto memory = aligned_bytes(1 << 20);
                  return works(*tier, memory.get(), 1 << 20) ? 0 : 3;
              }),
              0);
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Limits, NoDescriptorsLeftIsExhausted) {
    if (sdk::shell::sanitizer_kind == HBF_SANITIZER_ADDRESS)
        GTEST_SKIP() << "the sanitizer needs descriptors for its own checks";
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  auto tier = open_at(scratch.path());
                  auto kept = tier->create(4096, "", false);
                  const rlimit limit{0, 0};
                  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
                  if (failure_of([&] { tier->create(4096, "", false); }).status != HBF_EXHAUSTED) return 2;
                  return 0;
              }),
              0);
}

bool write_text(const char *path, const std::string &text) {
    std::ofstream out(path);
    return static_cast<bool>(out << text << std::flush);
}

// A file system of our own in a namespace of our own, where the kernel lets ordinary users have one.
bool mount_small(const std::string &path, const char *size) {
    const auto user = ::getuid(), group = ::getgid();
    if (user != 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        write_text("/proc/self/setgroups", "deny");
        if (!write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1\n")) return false;
        if (!write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1\n")) return false;
    } else if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        return false;
    }
    const std::string options = std::string("mode=0700,size=") + size;
    return ::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
}

TEST(Limits, FullDiskIsExhaustedAndEarlierDataStays) {
    ScratchDirectory scratch;
    const int code = in_child([&] {
        if (!mount_small(scratch.path(), "8m")) return skip;
        auto tier = open_at(scratch.path());
        auto channel = tier->create_channel(4);
        auto data = pattern(5, 0, 4 << 20);
        auto kept = tier->create(data.size(), "", false);
        if (write(*channel, *kept, 0, data.data(), data.size()).status != HBF_OK) return 1;
        auto full = failure_of([&] { tier->create(6 << 20, "", false); });
        if (full.status != HBF_EXHAUSTED) return 2;
        if (full.message.find("6291456 bytes wanted") == std::string::npos || full.message.find("free") == std::string::npos)
            return 3;
        if (failure_of([&] { tier->create(6 << 20, "named", false); }).status != HBF_EXHAUSTED) return 4;
        if (!scratch.names().empty()) return 5;
        auto fits = tier->create(3 << 20, "", false); // the failed ones gave back what they had
        std::vector<std::byte> got(data.size());
        if (read(*channel, *kept, 0, got.data(), got.size()).status != HBF_OK || got != data) return 6;
        return 0;
    });
    if (code == skip) GTEST_SKIP() << "this kernel lets us mount nothing";
    EXPECT_EQ(code, 0);
}

TEST(Limits, MemoryFileSystemsSayThatThePageCacheIsInUse) {
    ScratchDirectory scratch;
    const int code = in_child([&] {
        if (!mount_small(scratch.path(), "8m")) return skip;
        KeptLog log;
        auto tier = open_at(scratch.path(), log.log());
        hbf_tier_info info = describe(*tier);
        if (!(info.flags & HBF_TIER_FLAG_DEGRADED)) return 1;
        if (std::string(info.detail).find("page cache in use") == std::string::npos) return 2;
        if (log.text().find("page cache in use") == std::string::npos) return 3;
        auto memory = aligned_bytes(2 << 20);
        return works(*tier, memory.get(), 2 << 20) ? 0 : 4;
    });
    if (code == skip) GTEST_SKIP() << "this kernel lets us mount nothing";
    EXPECT_EQ(code, 0);
}

TEST(Limits, ReadOnlyFileSystemIsPermission) {
    ScratchDirectory scratch;
    const int code = in_child([&] {
        if (!mount_small(scratch.path(), "8m")) return skip;
        if (::mount(nullptr, scratch.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0)
            return skip;
        return failure_of([&] { open_at(scratch.path()); }).status == HBF_PERMISSION ? 0 : 1;
    });
    if (code == skip) GTEST_SKIP() << "this kernel lets us mount nothing";
    EXPECT_EQ(code, 0);
}

TEST(Limits, ClosedRingFailsWhatIsOutstandingAndHangsNobody) {
    if (auto failure = failure_of([] { make_uring_engine(1); }); failure.status != HBF_OK) GTEST_SKIP() << failure.message;
    ScratchDirectory scratch;
    EXPECT_EQ(in_child([&] {
                  auto tier = open_at(scratch.path());
                  auto file = tier->create(1 << 20, "", false);
                  auto channel = tier->create_channel(4);
                  auto memory = aligned_bytes(1 << 20);
                  for (int fd = 3; fd < 64; ++fd) ::close(fd); // as a daemon does when it detaches
                  return write(*channel, *file, 0, memory.get(), 1 << 20).status == HBF_OK ? 1 : 0;
              }),
              0);
}

} // namespace
} // namespace hbf::host
