// SPDX-License-Identifier: Apache-2.0
// Strings: those going in die with the call, those coming out live as long as it says.
#include <cstring>
#include <memory>
#include <optional>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

// Texts that are overwritten and freed as soon as the call they went into is over.
class Lent {
public:
    hbf_string operator()(std::string_view text) {
        texts_.push_back(std::make_unique<std::string>(text));
        return {texts_.back()->data(), text.size()};
    }
    void take_back() {
        for (const auto &text : texts_) std::memset(text->data(), 0xdd, text->size());
        texts_.clear();
    }

private:
    std::vector<std::unique_ptr<std::string>> texts_;
};

std::vector<std::string> texts_of(const hbf_plugin &table) {
    return {table.name, table.vendor, table.version, table.description, table.compiler, table.build_id};
}

template <size_t N>
void check_array(Context &context, const char (&text)[N], std::string_view what) {
    context.check(std::memchr(text, '\0', N), "{} has no NUL in its {} bytes", what, N);
}

hbf_instance *create_from(Subject &subject, Lent &lent, const std::string &device) {
    std::vector<hbf_option> options;
    for (const auto &[key, value] : subject.options().options) options.push_back({lent(key), lent(value)});
    hbf_create_in in{};
    in.struct_size = sizeof in;
    in.option_count = static_cast<uint32_t>(options.size());
    in.options = options.data();
    in.services = &subject.services();
    in.device_id = lent(device);
    in.system_root = lent("/");
    hbf_instance *made = nullptr;
    ErrorBuffer error;
    const Call call = error.call(subject.plugin().create(&in, &made, error));
    lent.take_back();
    must(call, "create");
    return made;
}

// A name lives on in a tier that keeps named regions: by the bytes it had, not by where they were. There is no way to remove
// such a region, so the name is always the same.
void check_region_name(Instance &device, Lent &lent) {
    if (!(device.capabilities() & need::persistent)) return;
    const std::string name = "hbf-conformance.string";
    const auto open = [&](uint32_t flags, hbf_region_info &made) {
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.tier = device.persistent_tier();
        desc.size = 4096;
        desc.flags = flags;
        desc.name = lent(name);
        made = {};
        made.struct_size = sizeof made;
        ErrorBuffer error;
        const Call call = error.call(device.tier_table().alloc(device.handle(), &desc, &made, error));
        lent.take_back();
        return call;
    };
    hbf_region_info made{};
    Call call = open(HBF_ALLOC_OPEN_EXISTING, made);
    if (call.status == HBF_UNAVAILABLE) call = open(0, made);
    must(call, "alloc of the region named {}", name);
    device.must_free(made.region);
    hbf_region_info again{};
    call = device.alloc(device.persistent_tier(), 4096, again, 0, name, HBF_ALLOC_OPEN_EXISTING);
    must(call, "opening {}, under which a region was made while its bytes were the caller's", name);
    device.must_free(again.region);
}

HBF_CASE("abi.string.valid_for_stated_lifetime",
         {.rules = {"HBF-ABI-9"},
          .kills = {"m36_dangling_string", "dangling_name", "text_without_end", "facts_change", "probe_finds_nothing"}}) {
    Subject &subject = context.subject();
    const hbf_plugin &table = subject.plugin();
    const std::vector<std::string> first = texts_of(table);
    const hbf_device_info device = subject.must_probe();
    check_array(context, device.id, "a device's id");
    check_array(context, device.name, "a device's name");
    check_array(context, device.driver, "a device's driver");
    check_array(context, device.pci_address, "a device's PCI address");

    Lent lent;
    for (int round = 0; round < 2; ++round) {
        Instance instance(subject, create_from(subject, lent, device.id));
        for (uint32_t i = 0; i < instance.tiers().size(); ++i) {
            hbf_tier_info info{};
            info.struct_size = sizeof info;
            std::memset(info.name, 'x', sizeof info.name);
            std::memset(info.detail, 'x', sizeof info.detail);
            must(instance.tier_table().describe(instance.handle(), i, &info, nullptr), "hbf.tier/1 describe {}", i);
            check_array(context, info.name, "a tier's name");
            check_array(context, info.detail, "a tier's detail");
            const Call call = [&] { // it works without the strings it was made from
                hbf_region_info region{};
                const Call made = instance.alloc(i, 4096, region);
                return made.ok() ? instance.free(region.region) : made;
            }();
            context.check(call.ok(), "tier {} of an instance whose option strings are gone: {}", info.name, to_string(call));
        }
        for (const hbf_domain_info &domain : instance.domains()) {
            check_array(context, domain.name, "a domain's name");
            check_array(context, domain.detail, "a domain's detail");
        }
        check_region_name(instance, lent);
        const Queue queue(instance);
        instance.must_run(queue, {});
    }
    const std::vector<std::string> last = texts_of(table);
    for (size_t i = 0; i < first.size(); ++i)
        context.check(first[i] == last[i], "a string of the base table was \"{}\" and is \"{}\" after later calls", first[i],
                      last[i]);
}

} // namespace
} // namespace hbf::conformance
