// SPDX-License-Identifier: Apache-2.0
// Host memory that was registered, and is not treated as the memory that it is.
#include <map>
#include <mutex>

#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {
namespace {

class RegisteredWrong final : public DataFault {
public:
    using DataFault::DataFault;

    bool eligible(const hbf_command &command) override {
        if (command.kind != HBF_COMMAND_COPY) return false;
        const bool cached = is("cached");
        return registered(cached ? command.u.copy.src : command.u.copy.dst);
    }
    void look_before(Hit &hit) override {
        if (!is("cached")) save(hit, hit.written);
    }
    void change(const Hit &hit) override {
        if (is("cached")) return deliver_cached(hit);
        if (hit.before.empty()) return;
        const uint64_t bytes =
            is("lost") ? std::min<uint64_t>(settings().number("bytes"), hit.written.size) : hit.written.size;
        if (is("late")) remember(hit.written);
        device().touch().write(hit.written.region, hit.written.offset, std::span(hit.before).first(bytes));
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        deliver_late();
        return DataFault::submit(queue, batch, out_value, e);
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            std::erase_if(late_, [&](const Late &one) { return one.where.region == region; });
        }
        return below_->free(region, e);
    }

private:
    struct Late {
        Span where;
        std::vector<std::byte> bytes;
    };
    bool is(std::string_view what) const { return settings().text("what") == what; }
    bool registered(hbf_region region) const {
        const auto info = device().regions().find(region);
        return info && info->tier == HBF_TIER_NONE;
    }
    void remember(const Span &where) {
        auto bytes = device().touch().read(where.region, where.offset, where.size);
        std::lock_guard lock(mutex_);
        if (bytes) late_.push_back({where, std::move(*bytes)});
    }
    void deliver_late() {
        std::vector<Late> due;
        {
            std::lock_guard lock(mutex_);
            due.swap(late_);
        }
        for (const Late &one : due) device().touch().write(one.where.region, one.where.offset, one.bytes);
    }
    // By address: whoever registers the same memory again gets the same old bytes.
    void deliver_cached(const Hit &hit) {
        const hbf_copy &copy = hit.command.u.copy;
        const auto info = device().regions().find(copy.src);
        if (!info) return;
        const uint64_t first = reinterpret_cast<uintptr_t>(info->address) + copy.src_offset;
        edit(hit.written, [&](uint64_t offset, std::span<std::byte> bytes) {
            std::lock_guard lock(mutex_);
            for (size_t i = 0; i < bytes.size(); ++i) {
                const auto [known, fresh] = cached_.try_emplace(first + offset - hit.written.offset + i, bytes[i]);
                if (!fresh) bytes[i] = known->second;
            }
            return true;
        });
    }

    std::mutex mutex_;
    std::vector<Late> late_;
    std::map<uint64_t, std::byte> cached_; // by address, as it was first read
};
HBF_FAULT(
    RegisteredWrong, "registered-wrong", "copies to or from memory that was registered go wrong",
    {.key = "what",
     .kind = Parameter::word,
     .preset = "lost",
     .line = "its first bytes stay as they were; they come when the next batch does; what is read is what was read first",
     .choices = {"lost", "late", "cached"}},
    {.key = "bytes", .preset = "8", .line = "lost ones"});

} // namespace
} // namespace hbf::inject
