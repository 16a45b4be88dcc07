// SPDX-License-Identifier: Apache-2.0
// What the tests of the cold tier share: a folder of their own, granules that tell whose they are, and a memory of what has
// to be in a log.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/cold/log.hpp"
#include "core/engine/cold/pages.hpp"

namespace hbf::kv::cold::testing {

// Below HBF_TEST_DIR or the current folder: a build folder is on a disk.
class Scratch {
public:
    Scratch() {
        const char *base = std::getenv("HBF_TEST_DIR");
        path_ = std::string(base ? base : std::filesystem::current_path().string()) + "/hbf-cold-XXXXXX";
        if (!::mkdtemp(path_.data())) throw std::runtime_error("cannot make " + path_);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    std::filesystem::path log() const { return std::filesystem::path(path_) / "log"; }

private:
    std::string path_;
};

inline Identity id(uint32_t number) {
    Identity identity;
    identity.bytes[0] = static_cast<uint8_t>(number);
    identity.bytes[1] = static_cast<uint8_t>(number >> 8);
    identity.bytes[31] = 1;
    return identity;
}
inline Key key(uint32_t number) {
    return {id(number / 2), number % 2};
}

// Bytes that no other key and no other generation has.
inline std::vector<std::byte> bytes_of(uint32_t number, uint64_t generation, size_t size) {
    std::vector<std::byte> bytes(size);
    uint64_t state = (uint64_t{number} << 40 ^ generation) * 0x9e3779b97f4a7c15ull + 1;
    for (std::byte &byte : bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        byte = static_cast<std::byte>(state);
    }
    return bytes;
}

inline LogOptions options_for(const Scratch &scratch, uint64_t segments = 8) {
    LogOptions options;
    options.folder = scratch.log();
    options.owner = {id(1000), id(1001), {}, "a model of tests"};
    options.segment_bytes = 1 << 20;
    options.capacity = segments << 20;
    return options;
}

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}
inline void must(Result<> result) {
    if (!result) throw std::runtime_error(result.error().message);
}

inline void append(Log &log, uint32_t number, uint64_t generation, size_t size = granule_size) {
    must(log.append(key(number), generation, bytes_of(number, generation, size)));
}

// Whether it reads as what was appended; the error of reading otherwise.
inline Result<uint64_t> read_generation(Reader &reader, uint32_t number) {
    static thread_local Pages memory(granule_size);
    const auto got = reader.read(key(number), memory.data(), memory.size());
    if (!got) return tl::unexpected(got.error());
    const auto expected = bytes_of(number, got->generation, got->length);
    if (!std::equal(expected.begin(), expected.end(), memory.data()))
        throw std::runtime_error("wrong bytes of granule " + std::to_string(number));
    return got->generation;
}

// What a log may hold after a crash: of each key what was committed last, or anything staged since.
class Memory {
public:
    static constexpr uint64_t absent = 0; // generations begin at 1

    void stage(uint32_t number, uint64_t generation) { keys_[number].staged.push_back(generation); }
    void commit() {
        for (auto &[number, state] : keys_) {
            if (!state.staged.empty()) state.committed = state.staged.back();
            state.staged.clear();
        }
    }
    // Holds the log against it, and takes over what is there.
    void check(Log &log, bool may_have_evicted) {
        auto reader = must(log.make_reader(4));
        for (auto &[number, state] : keys_) {
            const auto got = read_generation(*reader, number);
            if (!got && got.error().code != Code::unavailable) FAIL() << number << ": " << got.error().message;
            const uint64_t generation = got ? *got : absent;
            std::vector<uint64_t> allowed = state.staged;
            allowed.push_back(state.committed);
            if (may_have_evicted) allowed.push_back(absent);
            EXPECT_NE(std::find(allowed.begin(), allowed.end(), generation), allowed.end())
                << "key " << number << " has generation " << generation << ", committed is " << state.committed << ", and "
                << state.staged.size() << " were staged since";
            state = {generation, {}};
        }
    }

private:
    struct State {
        uint64_t committed = absent;
        std::vector<uint64_t> staged;
    };
    std::map<uint32_t, State> keys_;
};

inline uint32_t seed() {
    const char *text = std::getenv("HBF_SEED");
    return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 20261130;
}
inline int rounds(const char *variable, int otherwise) {
    const char *text = std::getenv(variable);
    return text ? std::atoi(text) : otherwise;
}

// Changes bytes of a file behind the log's back.
inline void flip(const std::filesystem::path &file, uint64_t offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte);
    if (!stream.flush()) throw std::runtime_error("cannot change " + file.string());
}

} // namespace hbf::kv::cold::testing
