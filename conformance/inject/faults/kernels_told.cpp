// SPDX-License-Identifier: Apache-2.0
// What find and name tell of kernels, against what is so.
#include <cstring>
#include <string_view>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

class KernelTold final : public Fault {
public:
    using Fault::Fault;

    void shape(Tables &tables) override {
        below_->shape(tables);
        count_ = tables.kernels.kernel_count;
        if (is("none-listed")) tables.kernels.kernel_count = 0;
        if (is("one-too-many")) ++tables.kernels.kernel_count;
    }
    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override {
        const std::string_view text(name.data ? name.data : "", name.data ? name.size : 0);
        if (is("listed-not-found") && text == name_of(count_ - 1) && fires()) return not_found(out, e);
        const hbf_status status = below_->find_kernel(name, out, e);
        if (status == HBF_UNSUPPORTED && is("no-version") && text.find('/') == text.npos) return find_plain(text, out, e);
        if (status == HBF_OK && usable(out, HBF_KERNEL_INFO_MIN_SIZE) && fires()) return change(out, e);
        return status == HBF_UNSUPPORTED && fires() ? find_other(text, out, e, status) : status;
    }
    hbf_status kernel_name(uint32_t index, hbf_string *out, hbf_error *e) override {
        if (is("none-listed")) return refuse(e, HBF_INVALID, "no kernel of this index");
        if (is("one-too-many") && index == count_) index = 0;
        if (is("listed-twice") && index == 1) index = 0;
        if (is("past-the-end") && index >= count_ && fires()) index = 0;
        const hbf_status status = below_->kernel_name(index, out, e);
        if (status == HBF_OK && is("no-version") && out->data) out->size = std::string_view(out->data, out->size).find('/');
        return status;
    }

    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && is("no-tier") && usable(out, HBF_TIER_INFO_MIN_SIZE)) out->access &= ~HBF_ACCESS_DEVICE;
        return status;
    }

private:
    bool is(std::string_view what) const { return settings().text("what") == what; }
    // By its name without the version, and called by it.
    hbf_status find_plain(std::string_view name, hbf_kernel_info *out, hbf_error *e) {
        for (uint32_t i = 0; i < count_; ++i) {
            const std::string_view known = name_of(i);
            if (known.substr(0, known.find('/')) != name) continue;
            const hbf_status status = find_again(known, out, e);
            if (status == HBF_OK && usable(out, HBF_KERNEL_INFO_MIN_SIZE)) out->name[name.size()] = '\0';
            return status;
        }
        return not_found(out, e);
    }
    std::string_view name_of(uint32_t index) {
        hbf_string name{};
        return below_->kernel_name(index, &name, nullptr) == HBF_OK ? std::string_view(name.data, name.size) : "";
    }
    static hbf_status not_found(hbf_kernel_info *out, hbf_error *e) {
        if (usable(out, HBF_KERNEL_INFO_MIN_SIZE)) out->kernel = 0;
        return refuse(e, HBF_UNSUPPORTED, "no kernel of this name");
    }
    hbf_status find_again(std::string_view name, hbf_kernel_info *out, hbf_error *e) {
        return below_->find_kernel({name.data(), name.size()}, out, e);
    }
    hbf_status change(hbf_kernel_info *out, hbf_error *e) {
        if (is("same-id")) {
            hbf_kernel_info first{};
            first.struct_size = sizeof first;
            const std::string_view name = name_of(0);
            if (find_again(name, &first, e) == HBF_OK) out->kernel = first.kernel;
        }
        if (is("id-changes")) out->kernel += found_++;
        if (is("no-id")) out->kernel = 0;
        if (is("other-name")) out->name[0] = out->name[0] == 'x' ? 'y' : 'x';
        if (is("buffers")) ++out->buffer_count;
        if (is("arguments")) out->arguments_size += 8;
        if (is("no-items")) out->max_group_size = 0;
        if (is("no-groups")) out->concurrent_groups = 0;
        return HBF_OK;
    }
    // A name that is none, taken for one that is like it.
    hbf_status find_other(std::string_view name, hbf_kernel_info *out, hbf_error *e, hbf_status status) {
        if (is("unknown-ok")) return find_again(name_of(0), out, e);
        for (uint32_t i = 0; i < count_; ++i) {
            const std::string_view known = name_of(i);
            const size_t slash = known.find('/');
            if ((is("version-ignored") && name.substr(0, name.find('/')) == known.substr(0, slash)) ||
                (is("prefix-ok") && !name.empty() && known.starts_with(name)) ||
                (is("tail-ignored") && name.starts_with(known)))
                return find_again(known, out, e);
        }
        if (is("refused-with-id") && usable(out, HBF_KERNEL_INFO_MIN_SIZE)) out->kernel = 1;
        return status;
    }
    uint32_t count_ = 0;
    std::atomic<uint64_t> found_{0};
};
HBF_FAULT(KernelTold, "kernel-told-wrong", "find or name tells something of kernels that is not so",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "unknown-ok",
           .line = "about names that there are not, about names that are listed, in hbf_kernel_info, or of the tiers that "
                   "kernels reach",
           .choices = {"unknown-ok",       "version-ignored", "prefix-ok",    "tail-ignored",
                       "refused-with-id",  "none-listed",     "one-too-many", "listed-twice",
                       "listed-not-found", "past-the-end",    "no-version",   "same-id",
                       "id-changes",       "no-id",           "other-name",   "buffers",
                       "arguments",        "no-items",        "no-groups",    "no-tier"}});

} // namespace
} // namespace hbf::inject
