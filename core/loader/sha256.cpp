// SPDX-License-Identifier: Apache-2.0
#include "core/loader/sha256.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nettle/sha2.h>
#include <unistd.h>

namespace hbf::loader {
namespace {

class Digest {
public:
    Digest() { sha256_init(&state_); }
    void add(const void *data, size_t size) { sha256_update(&state_, size, static_cast<const uint8_t *>(data)); }
    std::string hex() {
        std::array<uint8_t, SHA256_DIGEST_SIZE> bytes;
        sha256_digest(&state_, bytes.size(), bytes.data());
        std::string text;
        for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
        return text;
    }

private:
    sha256_ctx state_;
};

} // namespace

std::string sha256_hex(std::string_view text) {
    Digest digest;
    digest.add(text.data(), text.size());
    return digest.hex();
}

Result<std::string> sha256_file(int fd, const std::string &path) {
    Digest digest;
    std::vector<char> block(256 * 1024);
    for (off_t offset = 0;;) {
        const ssize_t count = pread(fd, block.data(), block.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(Code::unavailable, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
        if (count == 0) return digest.hex();
        digest.add(block.data(), static_cast<size_t>(count));
        offset += count;
    }
}

} // namespace hbf::loader
