// SPDX-License-Identifier: Apache-2.0
#include "queue.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "check.hpp"

using plugin::granule;

namespace {

hbf_command copy(hbf_region to, uint64_t to_offset, hbf_region from, uint64_t from_offset, uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {to, to_offset, from, from_offset, size, nullptr};
    return command;
}

hbf_command fill(hbf_region to, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_FILL;
    command.u.fill = {to, offset, size, pattern, pattern_size, 0};
    return command;
}

struct Device {
    plugin::Memory memory{8 * granule};
    std::unique_ptr<hbf::sdk::Queue> queue = memory.create_queue({});
    hbf_region_info a = make(), b = make();

    hbf_region_info make() {
        hbf::sdk::AllocRequest request;
        request.size = granule;
        return memory.alloc(request);
    }
    unsigned char *bytes(const hbf_region_info &info) { return static_cast<unsigned char *>(info.address); }
    uint64_t submit(const std::vector<hbf_command> &commands) {
        hbf_batch batch{};
        batch.struct_size = sizeof batch;
        batch.command_stride = sizeof(hbf_command);
        batch.commands = commands.data();
        batch.command_count = commands.size();
        return queue->submit(hbf::sdk::BatchView(batch));
    }
};

void copies_exactly_its_range() {
    Device device;
    for (uint64_t i = 0; i < granule; ++i) device.bytes(device.a)[i] = static_cast<unsigned char>(i * 7 + i / 251);
    std::memset(device.bytes(device.b), 0x5a, granule);
    CHECK(device.submit({copy(device.b.region, 1001, device.a.region, 77, 20001)}) == 1);
    CHECK(std::memcmp(device.bytes(device.b) + 1001, device.bytes(device.a) + 77, 20001) == 0);
    CHECK(device.bytes(device.b)[1000] == 0x5a && device.bytes(device.b)[1001 + 20001] == 0x5a);
}

void fills_and_cuts_the_last_pattern() {
    Device device;
    CHECK(device.submit({fill(device.a.region, 5, 11, 0x0807060504030201, 8)}) == 1);
    const unsigned char due[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 0};
    CHECK(std::memcmp(device.bytes(device.a) + 4, due, sizeof due) == 0);
}

void a_refused_batch_leaves_nothing() {
    Device device;
    const hbf_region a = device.a.region;
    const hbf_command good = fill(a, 0, 8, 0xff, 1);
    hbf_command flags = good, checked = copy(device.b.region, 0, a, 0, 8), launch{}, unknown{};
    flags.flags = 0x80;
    checked.flags = HBF_COPY_CRC32C;
    launch.kind = HBF_COMMAND_LAUNCH;
    unknown.kind = 99;
    const struct {
        hbf_command wrong;
        hbf_status due;
    } cases[] = {{fill(a, granule, 1, 0, 1), HBF_INVALID},
                 {fill(a, UINT64_MAX, 2, 0, 1), HBF_INVALID},
                 {fill(a, 0, 0, 0, 1), HBF_INVALID},
                 {fill(a, 0, 8, 0, 3), HBF_INVALID},
                 {copy(a, 0, a, 100, 200), HBF_INVALID},
                 {copy(a, 0, a ^ (uint64_t{1} << 40), 0, 8), HBF_INVALID},
                 {flags, HBF_INVALID},
                 {checked, HBF_UNSUPPORTED},
                 {launch, HBF_UNSUPPORTED},
                 {unknown, HBF_INVALID}};
    for (const auto &one : cases) CHECK(refusal([&] { device.submit({good, one.wrong}); }) == one.due);
    CHECK(device.bytes(device.a)[0] == 0); // the good command did not run either
    CHECK(device.submit({good}) == 1);     // and no value was spent
    CHECK(device.queue->poll().completed == 1);
    CHECK(refusal([&] { device.memory.free(a); }) == HBF_OK); // nor is the region held
}

} // namespace

int main() {
    copies_exactly_its_range();
    fills_and_cuts_the_last_pattern();
    a_refused_batch_leaves_nothing();
    return wrong != 0;
}
