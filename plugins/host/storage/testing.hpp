// SPDX-License-Identifier: Apache-2.0
// What the storage tests share: a directory of their own, one transfer at a time, and a log that keeps what it is told.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage_internals.hpp"

namespace hbf::host::testing {

// Below HBF_TEST_DIR or the current folder: a build folder is on a disk, /tmp may be memory.
class ScratchDirectory {
public:
    ScratchDirectory() {
        const char *base = std::getenv("HBF_TEST_DIR");
        std::string name = std::string(base ? base : std::filesystem::current_path().string()) + "/hbf-test-XXXXXX";
        if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
        path_ = name;
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDirectory(const ScratchDirectory &) = delete;
    ScratchDirectory &operator=(const ScratchDirectory &) = delete;

    const std::string &path() const { return path_; }
    // What is there, sorted, without the lock file.
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(path_))
            if (entry.path().filename() != ".hbf.lock") names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::string path_;
};

class KeptLog {
public:
    KeptLog() {
        services_.struct_size = sizeof services_;
        services_.context = this;
        services_.log = [](void *context, hbf_log_level, hbf_string message) noexcept {
            auto *self = static_cast<KeptLog *>(context);
            std::lock_guard lock(self->mutex_);
            self->text_.append(message.data, message.size).append("\n");
        };
    }
    sdk::Log log() const { return sdk::Log(&services_); }
    std::string text() {
        std::lock_guard lock(mutex_);
        return text_;
    }

private:
    hbf_host_services services_{};
    std::mutex mutex_;
    std::string text_;
};

constexpr uint64_t forever = UINT64_MAX;

inline IoResult finish(StorageChannel &channel) {
    IoResult result;
    channel.kick();
    while (channel.reap({&result, 1}, forever) == 0) {
    }
    return result;
}

inline IoResult write(StorageChannel &channel, StorageFile &file, uint64_t offset, const std::byte *data, uint64_t size) {
    channel.write(file, offset, data, size, 1);
    return finish(channel);
}

inline IoResult read(StorageChannel &channel, StorageFile &file, uint64_t offset, std::byte *data, uint64_t size) {
    channel.read(file, offset, data, size, 2);
    return finish(channel);
}

// Bytes that tell where they belong: a hash of seed and position.
inline std::byte byte_at(uint64_t seed, uint64_t position) {
    uint64_t x = (position + seed * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::byte>((x ^ (x >> 31)) >> 24);
}
inline std::vector<std::byte> pattern(uint64_t seed, uint64_t position, uint64_t size) {
    std::vector<std::byte> bytes(size);
    for (uint64_t i = 0; i < size; ++i) bytes[i] = byte_at(seed, position + i);
    return bytes;
}

struct FreeAligned {
    void operator()(std::byte *memory) const { std::free(memory); }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;
inline AlignedBytes aligned_bytes(uint64_t size) {
    return AlignedBytes(static_cast<std::byte *>(std::aligned_alloc(4096, (size + 4095) / 4096 * 4096)));
}

// The failure that `action` throws; status HBF_OK if it throws none.
template <class Action>
sdk::Failure failure_of(Action action) {
    try {
        action();
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "no failure"};
}

// Runs `action` in a process of its own and returns its exit code (0 if it returns), or 128 + the signal that ended it. What
// it expects it says by returning a code: gtest's assertions do not cross processes.
template <class Action>
int in_child(Action action) {
    std::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        int code = 99;
        try {
            code = action();
        } catch (const sdk::Failure &failure) {
            std::fprintf(stderr, "child: %s\n", failure.message.c_str());
        }
        ::_exit(code);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace hbf::host::testing
