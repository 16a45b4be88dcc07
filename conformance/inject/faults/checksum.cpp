// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::inject {
namespace {

// Checksummed copies whose checksum proves nothing.
class ChecksumWrong final : public DataFault {
public:
    using DataFault::DataFault;

    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_COPY && (command.flags & HBF_COPY_CRC32C) && command.u.copy.crc &&
               in_tier(command);
    }
    void change(const Hit &hit) override {
        const hbf_copy &copy = hit.command.u.copy;
        const std::string &what = settings().text("what");
        const uint64_t pieces = (copy.size + HBF_CRC_PIECE - 1) / HBF_CRC_PIECE;
        if (what == "zero") std::fill_n(copy.crc, pieces, 0u);
        if (what == "seed") copy.crc[pieces - 1] = ~copy.crc[pieces - 1];
        if (what == "beyond") copy.crc[pieces] = copy.crc[pieces - 1];
        for (uint64_t i = 0; what == "destination" && i < pieces; ++i) {
            const uint64_t at = i * HBF_CRC_PIECE, size = std::min<uint64_t>(copy.size - at, HBF_CRC_PIECE);
            if (const auto bytes = device().touch().read(copy.dst, copy.dst_offset + at, size))
                copy.crc[i] = kernels::crc32c(bytes->data(), bytes->size());
        }
    }
};
HBF_FAULT(ChecksumWrong, "crc-wrong", "a checksum is not of the bytes that were read; give \"destination\" a flip below it",
          parameter::tier,
          {.key = "what",
           .kind = Parameter::word,
           .preset = "destination",
           .line = "of the bytes that arrived; 0; its last word inverted; or one word more than there are pieces",
           .choices = {"destination", "zero", "seed", "beyond"}});

} // namespace
} // namespace hbf::inject
