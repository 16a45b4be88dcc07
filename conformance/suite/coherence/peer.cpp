// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/peer.hpp"

namespace hbf::conformance::coherence {

Peer::Peer(Context &context) {
    const PeerOptions &peer = context.subject().options().peer;
    if (peer.plugin_file.empty())
        context.not_observable("there is no second device: --peer names one (hbf conformance does, unless told 'none')");
    options_ = {peer.plugin_file, peer.device_id, peer.options};
    subject_ = std::make_unique<Subject>(options_);
    const auto [probed, devices] = subject_->probe();
    if (probed.status == HBF_UNAVAILABLE)
        context.not_observable(
            fmt::format("the second device, {}, is not there: {}", subject_->plugin().name, probed.message));
    name_ = subject_->plugin().name;
}

End::End(Instance &device, uint32_t tier, uint64_t size)
    : device_(&device), tier_(tier), region_(device.must_alloc(tier, size)), access_(device), queue_(device) {
    if (!region_.address) beside_ = device.must_alloc(device.cpu_tier(), size);
}

End::~End() {
    static_cast<void>(device_->free(region_.region));
    if (beside_.region) static_cast<void>(device_->free(beside_.region));
}

void End::to_window(uint64_t offset, uint64_t size) {
    if (beside_.region) device_->must_run(queue_, {copy_command(beside_.region, offset, region_.region, offset, size)});
    access_.refresh(window(), offset, size);
}

void End::from_window(uint64_t offset, uint64_t size) {
    access_.publish(window(), offset, size);
    if (beside_.region) device_->must_run(queue_, {copy_command(region_.region, offset, beside_.region, offset, size)});
}

hbf_region_info End::registered(const hbf_region_info &other) const {
    hbf_region_info out{};
    must(device_->register_host(other.address, other.size, out), "register_host of {} bytes of the other device's",
         other.size);
    return out;
}

void End::copy_out(const hbf_region_info &to, uint64_t to_offset, uint64_t offset, uint64_t size) {
    const hbf_region_info other = registered(to);
    device_->must_run(queue_, {copy_command(other.region, to_offset, region_.region, offset, size)});
    device_->must_free(other.region);
}

void End::copy_in(uint64_t offset, const hbf_region_info &from, uint64_t from_offset, uint64_t size) {
    const hbf_region_info other = registered(from);
    device_->must_run(queue_, {copy_command(region_.region, offset, other.region, from_offset, size)});
    device_->must_free(other.region);
}

} // namespace hbf::conformance::coherence
