// SPDX-License-Identifier: Apache-2.0
// Batches that are refused by halves, or read askew.
#include "conformance/inject/rewrite_fault.hpp"
#include "conformance/inject/touch.hpp"

namespace hbf::inject {
namespace {

// An event is a refused batch.
class RefusedBatch final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status != HBF_INVALID || !readable(queue, batch) || !fires()) return status;
        const std::string &what = settings().text("what");
        if (what == "value-set" && out_value) *out_value = 1;
        if (what == "value-spent") {
            const hbf_batch empty{sizeof empty, sizeof(hbf_command), nullptr, 0};
            uint64_t value = 0;
            below_->submit(queue, &empty, &value, nullptr);
        }
        for (uint64_t i = 0; what == "half-run" && i < batch->command_count; ++i)
            if (!run(command_at(*batch, i))) break;
        return status;
    }

private:
    // What comes before the command that is wrong. True: go on.
    bool run(const hbf_command &command) {
        const hbf_copy &copy = command.u.copy;
        const hbf_fill &fill = command.u.fill;
        const auto fits = [&](hbf_region handle, uint64_t offset, uint64_t size) {
            const auto region = device().regions().find(handle);
            return region && size > 0 && size <= (64 << 20) && offset <= region->size && size <= region->size - offset;
        };
        if (command.kind == HBF_COMMAND_WAIT) return true;
        if (command.kind == HBF_COMMAND_FILL && fits(fill.dst, fill.dst_offset, fill.size)) {
            std::vector<std::byte> bytes(fill.size);
            for (uint64_t i = 0; i < fill.size; ++i)
                bytes[i] = std::byte(fill.pattern >> (i % std::max(fill.pattern_size, 1u)) % 8 * 8);
            return device().touch().write(fill.dst, fill.dst_offset, bytes);
        }
        if (command.kind != HBF_COMMAND_COPY || !fits(copy.dst, copy.dst_offset, copy.size) ||
            !fits(copy.src, copy.src_offset, copy.size))
            return false;
        const auto bytes = device().touch().read(copy.src, copy.src_offset, copy.size);
        return bytes && device().touch().write(copy.dst, copy.dst_offset, *bytes);
    }
};
HBF_FAULT(RefusedBatch, "refused-batch", "a batch that is refused leaves something behind",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "half-run",
           .line = "the commands before the wrong one run; a value is spent; the value given is not 0",
           .choices = {"half-run", "value-spent", "value-set"}});

// Memory between the commands, or of the first ones again, is taken for commands.
class CommandStrideIgnored final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const bool hit = readable(queue, batch) && batch->command_stride != sizeof(hbf_command) && fires();
        if (!hit) return below_->submit(queue, batch, out_value, e);
        hbf_batch packed{};
        packed.struct_size = sizeof packed;
        packed.command_stride = sizeof(hbf_command);
        packed.commands = batch->commands;
        packed.command_count = batch->command_count;
        return below_->submit(queue, &packed, out_value, e);
    }
};
HBF_FAULT(CommandStrideIgnored, "command-stride-ignored", "commands are read as if they lay side by side");

class ArrayStrideIgnored final : public Fault {
public:
    using Fault::Fault;

    hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) override {
        const hbf_status status = below_->probe(in, out, e);
        if (status == HBF_OK && usable(out, HBF_PROBE_OUT_MIN_SIZE) && out->devices)
            pack(out->devices, out->device_stride, std::min(out->device_count, out->device_capacity));
        return status;
    }
    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override {
        const hbf_status status = below_->read_health(readings, stride, capacity, count, e);
        if (status == HBF_OK && readings && count) pack(readings, stride, std::min(*count, capacity));
        return status;
    }

private:
    template <class T>
    void pack(T *first, uint64_t stride, uint64_t count) {
        if (stride == sizeof(T) || count < 2 || !fires()) return;
        auto *const bytes = reinterpret_cast<std::byte *>(first);
        for (uint64_t i = 1; i < count; ++i) std::memmove(bytes + i * sizeof(T), bytes + i * stride, sizeof(T));
    }
};
HBF_FAULT(ArrayStrideIgnored, "array-stride-ignored",
          "devices and readings are written side by side, whatever their stride");

class TooManyOk final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status != HBF_INVALID || !usable(batch, HBF_BATCH_MIN_SIZE) || batch->command_count != queue.most_commands + 1 ||
            !fires())
            return status;
        hbf_batch fewer{};
        fewer.struct_size = sizeof fewer;
        fewer.command_stride = batch->command_stride;
        fewer.commands = batch->commands;
        fewer.command_count = queue.most_commands;
        return below_->submit(queue, &fewer, out_value, e);
    }
};
HBF_FAULT(TooManyOk, "too-many-commands-ok",
          "a batch one longer than the queue was made for is taken, without its last one");

} // namespace
} // namespace hbf::inject
