// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/integrity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/fabric/device_core.hpp"

namespace hbf::fabric {
namespace {

CrcRecords *records_of(const RegionSlot *slot) {
    return slot->records.load(std::memory_order_acquire);
}

void drop_destination(const Op &op) {
    if (op.dst == nullptr) return;
    if (CrcRecords *records = records_of(op.dst)) records->drop(op.dst_offset, op.size);
}

// Of a kernel: what it writes is named in its launch, and nothing else is touched.
void drop_buffers(const Op &op, const OpData &data) {
    for (uint32_t i = op.buffers_begin; i < op.buffers_begin + op.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = data.buffers[i];
        if ((buffer.access & HBF_KERNEL_WRITES) == 0) continue;
        if (CrcRecords *records = records_of(data.slots[i])) records->drop(buffer.offset, buffer.size);
    }
}

// Every mode: a source with a record must still be what was written.
Mismatch compare_source(const Op &op, const uint32_t *crc, uint64_t &checked_bytes) {
    const CrcRecords *records = records_of(op.src);
    if (records == nullptr) return {};
    for (uint64_t done = 0; done < op.size; done += granule_size, ++crc) {
        const auto length = static_cast<uint32_t>(std::min(granule_size, op.size - done));
        const auto known = records->get(op.src_offset + done, length);
        if (!known) continue;
        if (*known != *crc) return {op.src, op.src_offset + done, length, *known, *crc};
        checked_bytes += length;
    }
    return {};
}

void record_destination(const Op &op, const uint32_t *crc) {
    CrcRecords *records = records_of(op.dst);
    for (uint64_t done = 0; done < op.size; done += granule_size, ++crc)
        records->set(op.dst_offset + done, static_cast<uint32_t>(std::min(granule_size, op.size - done)), *crc);
}

void weaken(VerifiedBy &total, VerifiedBy one) {
    // From weakest to strongest; `nobody` is where every value starts.
    const auto strength = [](VerifiedBy by) { return by == VerifiedBy::next_read ? 1 : by == VerifiedBy::readback ? 2 : 3; };
    if (total == VerifiedBy::nobody || strength(one) < strength(total)) total = one;
}

} // namespace

Mismatch settle(std::span<const Op> ops, const OpData &data, uint64_t &checked_bytes, VerifiedBy &verified_by) noexcept {
    for (const Op &op : ops) {
        switch (op.kind) {
        case Command::Kind::copy: {
            if (op.integrity == Integrity::none) {
                drop_destination(op);
                break;
            }
            const uint32_t *pieces = data.crc.data() + op.crc_begin;
            if (const Mismatch found = compare_source(op, pieces, checked_bytes); found.slot != nullptr) return found;
            record_destination(op, pieces);
            if (op.readback) checked_bytes += op.size;
            weaken(verified_by, op.dst_kernel ? VerifiedBy::kernel
                                : op.readback ? VerifiedBy::readback
                                              : VerifiedBy::next_read);
            break;
        }
        case Command::Kind::fill:
            drop_destination(op);
            break;
        case Command::Kind::launch:
            drop_buffers(op, data);
            break;
        default:
            break;
        }
    }
    return {};
}

void forget(std::span<const Op> ops, const OpData &data) noexcept {
    for (const Op &op : ops) {
        if (op.kind == Command::Kind::copy || op.kind == Command::Kind::fill) drop_destination(op);
        if (op.kind == Command::Kind::launch) drop_buffers(op, data);
    }
}

const RegionSlot *find_slot(std::span<const Op> ops, const OpData &data, hbf_region handle) noexcept {
    if (handle == 0) return nullptr;
    for (const Op &op : ops)
        for (const RegionSlot *slot : {op.dst, op.src})
            if (slot != nullptr && slot->handle == handle) return slot;
    for (const RegionSlot *slot : data.slots)
        if (slot->handle == handle) return slot;
    return nullptr;
}

Error describe(const Mismatch &mismatch) {
    return {Code::data_loss,
            fmt::format("bytes {} to {} of {} are not what was written there: CRC-32C {:08x}, on record {:08x}",
                        mismatch.offset, mismatch.offset + mismatch.size, mismatch.slot->name, mismatch.actual,
                        mismatch.expected),
            mismatch.offset, mismatch.slot->name};
}

} // namespace hbf::fabric
