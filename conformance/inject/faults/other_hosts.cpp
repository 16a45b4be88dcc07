// SPDX-License-Identifier: Apache-2.0
// Structs and arrays of a host of another version, taken as only this version's are.
#include <cstring>

#include "conformance/inject/calls.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

uint32_t size_of(const void *sized) {
    uint32_t size;
    std::memcpy(&size, sized, sizeof size);
    return size;
}

class SizeWrong final : public CallFault {
public:
    using CallFault::CallFault;

    hbf_status before(const CallResult &call) override {
        const std::string &what = settings().text("what");
        if (what == "larger-minimum-in" && call.in && size_of(call.in) == call.in_known_size && fires()) return refuse(call);
        if (what == "larger-minimum-out" && call.out && size_of(call.out) == call.known_size && fires()) return refuse(call);
        if (what == "read-before-look") {
            if (call.in && size_of(call.in) < call.in_known_size && fires()) look(call.in, call.in_known_size);
            if (call.out && size_of(call.out) < call.known_size && fires()) look(call.out, call.known_size);
        }
        return HBF_OK;
    }
    void after(CallResult &call) override {
        const std::string &what = settings().text("what");
        const bool small =
            (call.in && size_of(call.in) < call.in_known_size) || (call.out && size_of(call.out) < call.known_size);
        if (what == "too-small-ok" && small && call.status == HBF_INVALID && fires()) call.status = HBF_OK;
        if (call.status != HBF_OK || !call.out) return;
        const uint32_t size = size_of(call.out);
        auto *const bytes = static_cast<std::byte *>(call.out);
        if (what == "tail-written" && size > call.known_size && fires())
            std::memset(bytes + call.known_size, 0, size - call.known_size);
        if ((what == "output-dropped" && size == call.known_size) ||
            (what == "larger-output-dropped" && size > call.known_size))
            if (fires()) std::memset(bytes + sizeof size, 0, call.known_size - sizeof size);
    }

private:
    static hbf_status refuse(const CallResult &call) {
        return sdk::shell::refuse(call.error, HBF_INVALID, "the struct is smaller than a later version has it");
    }
    static void look(const void *at, uint32_t size) { (void)*(static_cast<const volatile unsigned char *>(at) + size - 1); }
};
HBF_FAULT(
    SizeWrong, "struct-size-wrong", "a struct of another size than this version's is not taken as it must be",
    parameter::call,
    {.key = "what",
     .kind = Parameter::word,
     .preset = "larger-minimum-in",
     .line = "refused at its minimum, in or out; read before its size was looked at; taken below its minimum; its tail "
             "written; its fields left empty",
     .choices = {"larger-minimum-in", "larger-minimum-out", "read-before-look", "too-small-ok", "tail-written",
                 "output-dropped", "larger-output-dropped"}});

// Devices, readings and commands that lie further apart than theirs of today.
class ArrayWrong final : public Fault {
public:
    using Fault::Fault;

    hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) override {
        const hbf_status status = below_->probe(in, out, e);
        if (status != HBF_OK || !usable(out, HBF_PROBE_OUT_MIN_SIZE) || out->device_stride == sizeof(hbf_device_info) ||
            !fires())
            return status;
        const std::string &what = settings().text("what");
        const uint32_t written = out->device_count < out->device_capacity ? out->device_count : out->device_capacity;
        if (what == "device-count") ++out->device_count;
        if (what == "device-tail" && written > 0)
            std::memset(at(out, written - 1) + sizeof(hbf_device_info), 0, out->device_stride - sizeof(hbf_device_info));
        if (what == "device-misplaced" && written > 0) std::memmove(at(out, 0) + 8, at(out, 0), sizeof(hbf_device_info) - 8);
        if (what == "device-behind" && written < out->device_capacity) name(at(out, written));
        if (what == "device-room" && written < out->device_count) name(at(out, out->device_capacity));
        if (what == "device-cut") out->device_count = written;
        return status;
    }
    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override {
        const std::string &what = settings().text("what");
        const bool apart = readings && stride != sizeof(hbf_reading);
        if (apart && what == "reading-refused" && fires())
            return sdk::shell::refuse(e, HBF_INVALID, "readings must lie side by side");
        const hbf_status status = below_->read_health(readings, stride, capacity, count, e);
        if (status != HBF_OK || !apart || *count == 0) return status;
        auto *const first = reinterpret_cast<std::byte *>(readings);
        if (what == "reading-tail" && fires()) std::memset(first + sizeof(hbf_reading), 0, stride - sizeof(hbf_reading));
        if (what == "reading-empty" && fires()) std::memset(readings->name, 0, sizeof readings->name);
        return status;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        if (settings().text("what") == "command-refused" && usable(batch, HBF_BATCH_MIN_SIZE) && batch->command_count > 0 &&
            batch->command_stride > HBF_COMMAND_SIZE && fires()) {
            if (out_value) *out_value = 0;
            return sdk::shell::refuse(e, HBF_INVALID, "commands must lie side by side");
        }
        if (settings().text("what") != "command-lost" || !usable(batch, HBF_BATCH_MIN_SIZE) || batch->command_count < 2 ||
            batch->command_stride <= HBF_COMMAND_SIZE || !fires())
            return below_->submit(queue, batch, out_value, e);
        hbf_batch fewer = *batch;
        fewer.struct_size = sizeof fewer;
        --fewer.command_count;
        return below_->submit(queue, &fewer, out_value, e);
    }

private:
    static std::byte *at(hbf_probe_out *out, uint32_t index) {
        return reinterpret_cast<std::byte *>(out->devices) + index * out->device_stride;
    }
    static void name(std::byte *device) { std::memcpy(device + offsetof(hbf_device_info, id), "behind", 7); }
};
HBF_FAULT(ArrayWrong, "array-wrong", "an array whose elements lie apart is not filled, or not read, as it must be",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "device-tail",
           .line = "which array, and how",
           .choices = {"device-count", "device-tail", "device-misplaced", "device-behind", "device-room", "device-cut",
                       "reading-refused", "reading-tail", "reading-empty", "command-refused", "command-lost"}});

} // namespace
} // namespace hbf::inject
