// SPDX-License-Identifier: Apache-2.0
// Looks into a shared object without running any of it. Reads what the dynamic linker reads (program headers and the
// dynamic section), so a stripped library is no hindrance, and checks every offset and size before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/loader/reasons.hpp"

namespace hbf::loader {

// Bytes of a file. read() is all or nothing and false outside the file.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual uint64_t size() const = 0;
    virtual bool read(uint64_t offset, void *out, uint64_t count) const = 0;
};

class FileBytes : public ByteSource {
public:
    FileBytes(int fd, uint64_t size) : fd_(fd), size_(size) {}
    uint64_t size() const override { return size_; }
    bool read(uint64_t offset, void *out, uint64_t count) const override;

private:
    int fd_;
    uint64_t size_;
};

class MemoryBytes : public ByteSource {
public:
    explicit MemoryBytes(std::span<const char> bytes) : bytes_(bytes) {}
    uint64_t size() const override { return bytes_.size(); }
    bool read(uint64_t offset, void *out, uint64_t count) const override;

private:
    std::span<const char> bytes_;
};

struct ElfFacts {
    std::optional<Refusal> refused;  // wrong_arch or not_a_plugin
    std::vector<std::string> needed; // DT_NEEDED, in order
    std::string run_path;            // where it has these looked for besides the system's own folders: "A:$ORIGIN/B"
    uint32_t sanitizer = 0;          // HBF_SANITIZER_* it was built with, as far as its undefined symbols tell
};

// Is it a shared object for this machine that itself defines the function `entry`?
ElfFacts examine_elf(const ByteSource &file, std::string_view entry);

} // namespace hbf::loader
