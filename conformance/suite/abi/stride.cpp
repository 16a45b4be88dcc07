// SPDX-License-Identifier: Apache-2.0
// Arrays whose elements lie further apart than the plugin's own: those of a later host.
#include <cstring>
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/guarded.hpp"

namespace hbf::conformance {
namespace {

template <class T>
struct Elements {
    std::vector<Extended<T>> array;
    explicit Elements(size_t count) : array(count) {}
    T *first() { return &array[0].known; }
    static constexpr uint64_t stride = sizeof(Extended<T>);
    bool tails_untouched() const {
        for (const auto &element : array)
            if (!element.tail_untouched() || element.known.struct_size != stride) return false;
        return true;
    }
};

void check_devices(Context &context, Subject &subject) {
    std::vector<hbf_device_info> expected;
    {
        auto [call, devices] = subject.probe();
        must(call, "probe");
        expected = std::move(devices);
    }
    const size_t count = expected.size() + 2;
    Elements<hbf_device_info> found(count);
    hbf_probe_in in{};
    in.struct_size = sizeof in;
    in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    in.options = subject.abi_options().data();
    hbf_probe_out out{};
    out.struct_size = sizeof out;
    const auto probe = [&](uint32_t capacity) {
        out.devices = found.first();
        out.device_capacity = capacity;
        out.device_stride = found.stride;
        ErrorBuffer error;
        must(error.call(subject.plugin().probe(&in, &out, error)), "probe with a stride of {} bytes", found.stride);
        context.check(out.device_count == expected.size(), "probe with a larger stride, and room for {}, counts {} devices",
                      capacity, out.device_count);
    };
    probe(static_cast<uint32_t>(count));
    for (size_t i = 0; i < expected.size(); ++i)
        context.check(std::strcmp(found.array[i].known.id, expected[i].id) == 0,
                      "device {} of an array with a stride of {} bytes is not where it belongs: \"{}\" and not \"{}\"", i,
                      found.stride, found.array[i].known.id, expected[i].id);
    context.check(found.tails_untouched(), "probe wrote between the elements of an array of devices");
    context.check(found.array[expected.size()].known.id[0] == '\0', "probe wrote behind the last device it found");
    found = Elements<hbf_device_info>(count);
    probe(static_cast<uint32_t>(expected.size() - 1));
    context.check(found.array[expected.size() - 1].known.id[0] == '\0' && found.tails_untouched(),
                  "probe wrote behind the room it was given");
}

// Copies between two regions; what stands between two commands would be one of its own to who walks by another stride.
void check_commands(Context &context, Instance &device) {
    constexpr size_t count = 5, piece = 64;
    const uint32_t tier = device.dma_tiers().at(0);
    Regions regions(device);
    ByteAccess access(device);
    const hbf_region_info from = regions.make(tier, count * piece), to = regions.make(tier, count * piece);
    std::vector<std::byte> bytes(count * piece), nothing(count * piece);
    Random random(context.seed());
    for (std::byte &byte : bytes) byte = static_cast<std::byte>(random());
    access.write(from, 0, bytes);
    access.write(to, 0, nothing);
    struct Spaced {
        hbf_command command;
        unsigned char tail[32];
    };
    static_assert(sizeof(Spaced) % 8 == 0);
    Spaced commands[count];
    std::memset(commands, 0xa5, sizeof commands);
    for (size_t i = 0; i < count; ++i)
        commands[i].command = copy_command(to.region, i * piece, from.region, i * piece, piece);
    const Queue queue(device);
    const hbf_batch batch{sizeof batch, sizeof(Spaced), &commands[0].command, count};
    uint64_t value = 0;
    ErrorBuffer error;
    must(error.call(device.queue_table().submit(queue, &batch, &value, error)), "submit of commands {} bytes apart",
         sizeof(Spaced));
    device.must_complete(queue, value);
    context.check(access.read(to, 0, bytes.size()) == bytes, "of {} copies {} bytes apart not each arrived", count,
                  sizeof(Spaced));
}

void check_readings(Context &context, Instance &device) {
    const hbf_health_ext *const table = device.health_table();
    if (!table) return;
    uint32_t count = 0;
    must(table->read(device.handle(), nullptr, 0, 0, &count, nullptr), "health: read of the count");
    if (count == 0) return;
    Elements<hbf_reading> readings(count + 1);
    uint32_t found = 0;
    ErrorBuffer error;
    const Call call = error.call(table->read(device.handle(), readings.first(), readings.stride, count + 1, &found, error));
    context.check(call.ok(), "health: read with a stride of {} bytes: {}", readings.stride, to_string(call));
    for (uint32_t i = 0; i < found && i < count; ++i) {
        const hbf_reading &reading = readings.array[i].known;
        context.check(reading.name[0] && (reading.kind == HBF_READING_COUNTER || reading.kind == HBF_READING_GAUGE),
                      "reading {} of an array with a stride of {} bytes has no name or kind", i, readings.stride);
    }
    context.check(readings.tails_untouched(), "health wrote between the elements of an array of readings");
}

HBF_CASE("abi.struct.array_stride_honoured",
         {.rules = {"HBF-ABI-7"},
          .kills = {"array_device_count", "array_device_tail", "array_device_misplaced", "array_device_behind",
                    "array_device_room", "array_device_cut", "array_reading_refused", "array_reading_tail",
                    "array_reading_empty", "array_command_refused", "array_command_lost", "command_stride_ignored"}}) {
    check_devices(context, context.subject());
    check_commands(context, context.device());
    check_readings(context, context.device());
}

} // namespace
} // namespace hbf::conformance
