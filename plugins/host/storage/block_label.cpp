// SPDX-License-Identifier: Apache-2.0
#include "block_label.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "io_calls.hpp"
#include "io_error.hpp"

namespace hbf::host {
namespace {

constexpr std::string_view label = "HBF storage, regions without names, format 1\n";

struct Signature {
    uint64_t offset;
    std::string_view bytes, meaning;
};
// Only to name what is there: anything but zeros is refused.
constexpr Signature signatures[] = {
    {1080, "\x53\xef", "an ext2, ext3 or ext4 file system"},
    {0, "XFSB", "an XFS file system"},
    {65600, "_BHRfS_M", "a btrfs file system"},
    {512, "EFI PART", "a GPT partition table"},
    {4096, "EFI PART", "a GPT partition table"},
    {0, "LUKS\xba\xbe", "a LUKS encrypted volume"},
    {512, "LABELONE", "an LVM physical volume"},
    {4086, "SWAPSPACE2", "swap space"},
    {3, "NTFS", "an NTFS file system"},
    {510, "\x55\xaa", "a boot sector or partition table"},
};

using Buffer = std::unique_ptr<std::byte, decltype(&std::free)>;

Buffer aligned_mebibyte() {
    Buffer buffer(static_cast<std::byte *>(std::aligned_alloc(65536, block_reserved)), &std::free);
    if (!buffer) sdk::fail(HBF_EXHAUSTED, "no memory to read a block device's label");
    return buffer;
}

bool all_zero(const std::byte *data, uint64_t size) {
    return std::all_of(data, data + size, [](std::byte byte) { return byte == std::byte{0}; });
}

} // namespace

std::string foreign_content(int fd, uint64_t size, const std::string &path) {
    Buffer buffer = aligned_mebibyte();
    for (bool first : {true, false}) {
        const uint64_t offset = first ? 0 : size - block_reserved;
        IoOutcome read = read_fully(system_io, fd, buffer.get(), block_reserved, offset);
        if (read.error) fail_errno("cannot read", path, read.error);
        if (read.moved < block_reserved) sdk::fail(HBF_DATA_LOSS, path + " is shorter than it says", 0, offset + read.moved);
        if (first && std::memcmp(buffer.get(), label.data(), label.size()) == 0) return "";
        if (first)
            for (const Signature &signature : signatures)
                if (std::memcmp(buffer.get() + signature.offset, signature.bytes.data(), signature.bytes.size()) == 0)
                    return std::string(signature.meaning);
        if (!all_zero(buffer.get(), block_reserved)) return "data";
    }
    return "";
}

void write_label(int fd, const std::string &path) {
    Buffer buffer = aligned_mebibyte();
    std::memset(buffer.get(), 0, block_reserved);
    std::memcpy(buffer.get(), label.data(), label.size());
    IoOutcome written = write_fully(system_io, fd, buffer.get(), block_reserved, 0);
    if (written.error) fail_errno("cannot write the label of", path, written.error);
    if (written.moved < block_reserved) sdk::fail(HBF_DATA_LOSS, path + " takes no label", 0, written.moved);
}

} // namespace hbf::host
