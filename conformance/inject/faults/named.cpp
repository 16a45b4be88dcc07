// SPDX-License-Identifier: Apache-2.0
// Named regions: names that are none, and bytes that do not last, or last when they must not.
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/touch.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

// A request with a name.
class NamedFault : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        if (!usable(desc, HBF_ALLOC_DESC_MIN_SIZE) || !usable(out, HBF_REGION_INFO_MIN_SIZE) || !desc->name.data ||
            desc->name.size == 0)
            return below_->alloc(desc, out, e);
        hbf_alloc_desc changed = *desc;
        changed.struct_size = sizeof changed;
        return alloc_named(changed, *out, std::string(desc->name.data, desc->name.size), e);
    }

protected:
    virtual hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &name, hbf_error *e) = 0;
    static bool opens(const hbf_alloc_desc &desc) { return (desc.flags & HBF_ALLOC_OPEN_EXISTING) != 0; }
};

class AnyNameOk final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &name, hbf_error *e) override {
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (status != HBF_INVALID || !fires()) return status;
        std::string plain = "any-" + name.substr(0, 60);
        for (char &c : plain)
            if (!isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
        desc.name = {plain.data(), plain.size()};
        desc.flags = 0;
        return below_->alloc(&desc, &out, e);
    }
};
HBF_FAULT(AnyNameOk, "any-name-ok", "a name with characters that no name may have is taken");

class LongestRefused final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &name, hbf_error *e) override {
        if (name.size() < settings().number("bytes") || !fires()) return below_->alloc(&desc, &out, e);
        out.region = 0;
        return refuse(e, HBF_INVALID, "the name is too long");
    }
};
HBF_FAULT(LongestRefused, "longest-name-refused", "a name of the largest length that is legal is refused",
          {.key = "bytes", .preset = "64", .line = "from this length on"});

class OpenCreates final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &, hbf_error *e) override {
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (status != HBF_UNAVAILABLE || !opens(desc) || !fires()) return status;
        desc.flags &= ~HBF_ALLOC_OPEN_EXISTING;
        return below_->alloc(&desc, &out, e);
    }
};
HBF_FAULT(OpenCreates, "open-existing-creates", "opening a named region that is not there makes it");

class OpenedLonger final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &, hbf_error *e) override {
        const uint64_t asked = desc.size;
        hbf_status status = below_->alloc(&desc, &out, e);
        if (!opens(desc) || (status != HBF_DATA_LOSS && status != HBF_INVALID) || !fires()) return status;
        desc.size = 1; // whatever is stored is as much
        status = below_->alloc(&desc, &out, e);
        if (status != HBF_OK) return status;
        std::lock_guard lock(mutex_);
        longer_[out.region] = out.size;
        out.size = asked;
        return status;
    }
    // Beyond what was stored there are zeros, and all is well.
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (!readable(queue, batch)) return below_->submit(queue, batch, out_value, e);
        std::vector<hbf_command> commands;
        copy_commands(*batch, commands);
        bool changed = false;
        for (hbf_command &command : commands) {
            if (command.kind != HBF_COMMAND_COPY) continue;
            hbf_copy copy = command.u.copy;
            std::lock_guard lock(mutex_);
            const auto found = longer_.find(copy.src);
            if (found == longer_.end() || copy.src_offset + copy.size <= found->second) continue;
            command.kind = HBF_COMMAND_FILL;
            command.u.fill = {copy.dst, copy.dst_offset, copy.size, 0, 1, 0};
            changed = true;
        }
        const hbf_batch rewritten = batch_of(commands);
        return below_->submit(queue, changed ? &rewritten : batch, out_value, e);
    }

private:
    std::mutex mutex_;
    std::map<hbf_region, uint64_t> longer_; // what there really is
};
HBF_FAULT(OpenedLonger, "opened-longer-than-stored",
          "a named region opened with more bytes than it has reads as zeros there");

class PersistLost final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &name, hbf_error *e) override {
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (status != HBF_OK) return status;
        std::lock_guard lock(mutex_);
        const bool mine = opened_.contains(name);
        opened_.insert(name);
        live_[out.region] = out.size;
        if (!mine && opens(desc) && settings().text("what") == "reopen" && fires()) clear(out.region, out.size);
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            live_.erase(region);
        }
        return below_->free(region, e);
    }
    void destroy() override {
        if (settings().text("what") == "destroy")
            for (const auto &[region, size] : live_)
                if (fires()) clear(region, size);
        below_->destroy();
    }

private:
    void clear(hbf_region region, uint64_t size) {
        const std::vector<std::byte> zeros(std::min<uint64_t>(size, 1 << 20));
        device().touch().write(region, 0, zeros);
    }
    std::mutex mutex_;
    std::set<std::string> opened_; // by this instance
    std::map<hbf_region, uint64_t> live_;
};
HBF_FAULT(PersistLost, "persist-lost", "a named region is empty when another instance opens it",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "reopen",
           .line = "or only if it was not freed before its instance ended",
           .choices = {"reopen", "destroy"}});

class PersistOld final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &name, hbf_error *e) override {
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (status != HBF_OK) return status;
        std::lock_guard lock(mutex());
        names_[out.region] = name;
        const auto first = stored().find(name);
        if (opens(desc) && first != stored().end() && fires())
            device().touch().write(out.region, 0,
                                   std::span(first->second).first(std::min<size_t>(first->second.size(), out.size)));
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex());
            const auto name = names_.find(region);
            const auto known = device().regions().find(region);
            if (name != names_.end() && known && !stored().contains(name->second))
                if (auto bytes = device().touch().read(region, 0, std::min<uint64_t>(known->size, 4096)))
                    stored()[name->second] = std::move(*bytes);
            names_.erase(region);
        }
        return below_->free(region, e);
    }

private:
    // Of all instances.
    static std::mutex &mutex() {
        static std::mutex one;
        return one;
    }
    static std::map<std::string, std::vector<std::byte>> &stored() {
        static auto *const first = new std::map<std::string, std::vector<std::byte>>;
        return *first;
    }
    std::map<hbf_region, std::string> names_;
};
HBF_FAULT(PersistOld, "persist-keeps-first-bytes",
          "what is stored under a name a second time is not there when it is opened");

class StoreVisible final : public NamedFault {
public:
    using NamedFault::NamedFault;

    hbf_status alloc_named(hbf_alloc_desc &desc, hbf_region_info &out, const std::string &, hbf_error *e) override {
        const bool early = settings().text("what") == "unfinished";
        const hbf_status status = below_->alloc(&desc, &out, e);
        if (opens(desc)) return status;
        if (early && status == HBF_OK && fires()) { // stored at once: freed, and opened again
            if (below_->free(out.region, nullptr) != HBF_OK) return status;
            desc.flags |= HBF_ALLOC_OPEN_EXISTING;
            return below_->alloc(&desc, &out, e);
        }
        if (!early && status == HBF_EXHAUSTED && fires()) {
            hbf_region_info small{};
            small.struct_size = sizeof small;
            desc.size = 1;
            if (below_->alloc(&desc, &small, nullptr) == HBF_OK) below_->free(small.region, nullptr);
        }
        return status;
    }
};
HBF_FAULT(StoreVisible, "failed-store-visible", "a named region can be opened although it was never stored",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "refused",
           .line = "its making was refused; or its writer has not finished",
           .choices = {"refused", "unfinished"}});

} // namespace
} // namespace hbf::inject
