// SPDX-License-Identifier: Apache-2.0
// A checksum that was asked for and that nobody computes.
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class CrcFlagIgnored final : public CommandFault {
public:
    using CommandFault::CommandFault;

    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override {
        const hbf_status status = below_->queue_info(out, e);
        if (status == HBF_OK && usable(out, HBF_QUEUE_INFO_MIN_SIZE) && not_offered())
            out->capabilities &= ~HBF_QUEUE_CAP_CRC32C;
        return status;
    }
    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_COPY && (command.flags & HBF_COPY_CRC32C) &&
               (command.u.copy.crc != nullptr) == not_offered();
    }
    void change(hbf_command &command) override { command.flags &= ~HBF_COPY_CRC32C; }

private:
    bool not_offered() const { return settings().text("what") == "not-offered"; }
};
HBF_FAULT(CrcFlagIgnored, "crc-flag-ignored", "a copy with HBF_COPY_CRC32C is done without it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "place",
           .line = "there is no place for it, or the queue offers none",
           .choices = {"place", "not-offered"}});

} // namespace
} // namespace hbf::inject
