// SPDX-License-Identifier: Apache-2.0
// From the bytes that were found to the fault that leaves such bytes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "conformance/suite/dma/model.hpp"

namespace hbf::conformance {
namespace {

using Bytes = std::vector<std::byte>;

uint64_t word_at(const Bytes &bytes, uint64_t at, uint32_t width) {
    uint64_t out = 0;
    std::memcpy(&out, bytes.data() + at, width);
    return out;
}

bool same(const Bytes &a, uint64_t a_at, const Bytes &b, uint64_t b_at, uint64_t size) {
    return a_at + size <= a.size() && b_at + size <= b.size() && std::memcmp(a.data() + a_at, b.data() + b_at, size) == 0;
}

// How far from where it belongs the data of a copy was taken, 0: not found nearby.
int64_t shift_of(const Model::Write &write, const Bytes &actual) {
    if (!write.source || write.size < 8) return 0;
    const Bytes &source = write.source->bytes();
    for (int64_t distance = 1; distance <= 4096; ++distance) {
        for (const int64_t shift : {distance, -distance}) {
            const auto from = static_cast<int64_t>(write.source_offset) + shift;
            if (from >= 0 && same(actual, write.offset, source, static_cast<uint64_t>(from), write.size)) return shift;
        }
    }
    return 0;
}

// Whether every wrong byte of a copy is what its source held at that place earlier.
bool brought_old(const Model::Write &write, const Bytes &actual, const Bytes &expected, const Bytes &source_then) {
    if (write.source_offset + write.size > source_then.size()) return false;
    for (uint64_t i = 0; i < write.size; ++i) {
        const std::byte found = actual[write.offset + i];
        if (found != expected[write.offset + i] && found != source_then[write.source_offset + i]) return false;
    }
    return true;
}

unsigned bits_wrong(const Bytes &a, const Bytes &b, uint64_t at, uint64_t size) {
    unsigned out = 0;
    for (uint64_t i = at; i < at + size; ++i) out += std::popcount(std::to_integer<unsigned>(a[i] ^ b[i]));
    return out;
}

struct Finding {
    std::string_view fault_class;
    std::string detail;
};

// The first wrong byte lies inside `write`.
Finding inside(const Model::Write &write, const std::vector<Model::Write> &writes, const Bytes &actual,
               const Bytes &expected, const Bytes &before, uint64_t first, bool old_source) {
    const uint64_t end = write.offset + write.size;
    const bool old_to_the_end = same(actual, first, before, first, end - first);
    if (old_to_the_end && same(actual, write.offset, before, write.offset, write.size))
        return {fault::not_written, fmt::format("nothing of {} arrived: the old bytes are there", write.what)};
    if (old_to_the_end)
        return {fault::short_transfer, fmt::format("the last {} bytes of {} did not arrive", end - first, write.what)};
    if (bits_wrong(actual, expected, write.offset, write.size) == 1)
        return {fault::bit_flip, fmt::format("one bit of {} is wrong", write.what)};
    if (const int64_t shift = shift_of(write, actual))
        return {fault::misplaced, fmt::format("{} brought the bytes {} {} where it should have read", write.what,
                                              std::abs(shift), shift > 0 ? "after" : "before")};
    if (old_source) return {fault::stale, fmt::format("{} brought bytes that its source held earlier", write.what)};
    for (const Model::Write &other : writes) {
        if (&other != &write && other.size >= write.size && same(actual, write.offset, expected, other.offset, write.size))
            return {fault::misplaced, fmt::format("in place of {} stands what belongs to {}", write.what, other.what)};
    }
    for (uint64_t i = first; i < end; ++i) {
        if (actual[i] != expected[i] && actual[i] != before[i])
            return {fault::wrong_value, fmt::format("{} left bytes that are neither old nor new", write.what)};
    }
    return {fault::stale, fmt::format("{} left old bytes among the new", write.what)};
}

// No command wrote the first wrong byte.
Finding outside(const std::vector<Model::Write> &writes, const std::string &name, uint64_t first) {
    const Model::Write *nearest = nullptr;
    uint64_t distance = UINT64_MAX;
    for (const Model::Write &write : writes) {
        const uint64_t end = write.offset + write.size;
        const uint64_t away = first >= end ? first - end : write.offset - first - 1;
        if (away < distance) distance = away, nearest = &write;
    }
    if (!nearest) return {fault::guard, fmt::format("a byte of {} changed, which no command wrote", name)};
    const bool after = first >= nearest->offset + nearest->size;
    return {fault::guard, fmt::format("byte {} {} {} changed, which no command wrote", distance + 1,
                                      after ? "after the end of" : "before the start of", nearest->what)};
}

} // namespace

Evidence explain(const Model &model, const std::vector<std::byte> &actual, uint64_t first) {
    const Bytes &expected = model.bytes_;
    Evidence out;
    out.tier = model.tier_;
    out.region = model.region_->region;
    out.offset = first;
    if (model.region_->address) out.address = reinterpret_cast<uintptr_t>(model.region_->address) + first;
    out.width = static_cast<uint32_t>(std::min<uint64_t>(8, actual.size() - first));
    out.expected = word_at(expected, first, out.width);
    out.actual = word_at(actual, first, out.width);
    for (uint64_t i = first; i < actual.size(); ++i) out.wrong_bytes += actual[i] != expected[i];

    const auto covers = [first](const Model::Write &write) {
        return first >= write.offset && first - write.offset < write.size;
    };
    const auto found = std::find_if(model.writes_.rbegin(), model.writes_.rend(), covers);
    const Model *source = found == model.writes_.rend() ? nullptr : found->source;
    const bool old_source = source && (brought_old(*found, actual, expected, source->before_) ||
                                       brought_old(*found, actual, expected, source->older_));
    const Finding finding = found == model.writes_.rend()
                                ? outside(model.writes_, model.name_, first)
                                : inside(*found, model.writes_, actual, expected, model.before_, first, old_source);
    out.fault_class = finding.fault_class;
    out.detail = fmt::format("{} at offset {:#x} of {}: {} bytes wrong, first expected {:#x}, found {:#x}", finding.detail,
                             first, model.name_, out.wrong_bytes, out.expected, out.actual);
    return out;
}

} // namespace hbf::conformance
