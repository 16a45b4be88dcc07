// SPDX-License-Identifier: Apache-2.0
// Lists of copies that one batch holds.
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

// An event is a batch with at least two copies.
class ListFault : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

protected:
    bool rewrite(std::vector<hbf_command> &commands) final {
        std::vector<hbf_command *> copies;
        for (hbf_command &command : commands)
            if (command.kind == HBF_COMMAND_COPY && in_tier(command)) copies.push_back(&command);
        if (copies.size() < 2 || !fires()) return false;
        change(copies);
        return true;
    }
    virtual void change(const std::vector<hbf_command *> &copies) = 0;
};

class ListStrideIgnored final : public ListFault {
public:
    using ListFault::ListFault;

    void change(const std::vector<hbf_command *> &copies) override {
        uint64_t at = copies[0]->u.copy.dst_offset;
        for (hbf_command *command : copies) {
            if (command->u.copy.dst != copies[0]->u.copy.dst) continue;
            const auto region = device().regions().find(command->u.copy.dst);
            if (!region || at + command->u.copy.size > region->size) break;
            command->u.copy.dst_offset = at;
            at += command->u.copy.size;
        }
    }
};
HBF_FAULT(ListStrideIgnored, "stride-ignored", "copies of one batch to one region land side by side, without their gaps",
          parameter::tier);

class ListOrderWrong final : public ListFault {
public:
    using ListFault::ListFault;

    void change(const std::vector<hbf_command *> &copies) override {
        for (size_t i = 0; i + 1 < copies.size(); i += 2) {
            hbf_copy &a = copies[i]->u.copy, &b = copies[i + 1]->u.copy;
            if (a.size != b.size) continue;
            std::swap(a.src, b.src);
            std::swap(a.src_offset, b.src_offset);
        }
    }
};
HBF_FAULT(ListOrderWrong, "sg-order-wrong", "of the copies of one batch, every two of one size exchange their sources",
          parameter::tier);

class ListEndDropped final : public ListFault {
public:
    using ListFault::ListFault;

    void change(const std::vector<hbf_command *> &copies) override { make_nothing(*copies.back()); }
};
HBF_FAULT(ListEndDropped, "sg-last-entry-dropped", "the last copy of a batch is lost", parameter::tier);

class BatchCut final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    bool rewrite(std::vector<hbf_command> &commands) override {
        const uint64_t most = settings().number("commands");
        if (commands.size() <= most || !fires()) return false;
        commands.resize(most);
        return true;
    }
};
HBF_FAULT(BatchCut, "batch-cut", "of a long batch only the first commands run",
          {.key = "commands", .preset = "16", .line = "how many"});

} // namespace
} // namespace hbf::inject
