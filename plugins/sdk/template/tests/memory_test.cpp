// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <vector>

#include "check.hpp"

using plugin::granule;
using plugin::Memory;

namespace {

hbf::sdk::AllocRequest bytes(uint64_t size) {
    hbf::sdk::AllocRequest request;
    request.size = size;
    return request;
}

void describes_itself() {
    Memory memory(4 * granule);
    hbf_tier_info info{};
    memory.describe_tier(0, info);
    CHECK(info.capacity == 4 * granule && info.available == 4 * granule);
    memory.alloc(bytes(1));
    memory.describe_tier(0, info);
    CHECK(info.available == 3 * granule);
}

void regions_are_aligned_apart_and_empty() {
    Memory memory(4 * granule);
    const hbf_region_info one = memory.alloc(bytes(granule + 1)), other = memory.alloc(bytes(granule));
    for (const hbf_region_info &info : {one, other}) CHECK(reinterpret_cast<uintptr_t>(info.address) % granule == 0);
    auto *const first = static_cast<unsigned char *>(one.address), *const second =
                                                                       static_cast<unsigned char *>(other.address);
    CHECK(second >= first + one.size || first >= second + other.size);
    bool empty = true;
    for (uint64_t i = 0; i < one.size; ++i) empty &= first[i] == 0;
    CHECK(empty);
}

void a_full_tier_refuses_and_takes_back() {
    Memory memory(4 * granule);
    std::vector<hbf_region> regions;
    for (int i = 0; i < 4; ++i) regions.push_back(memory.alloc(bytes(granule)).region);
    CHECK(refusal([&] { memory.alloc(bytes(1)); }) == HBF_EXHAUSTED);
    CHECK(refusal([&] { memory.alloc(bytes(UINT64_MAX)); }) == HBF_EXHAUSTED);
    memory.free(regions.back());
    CHECK(refusal([&] { memory.free(regions.back()); }) == HBF_INVALID);
    CHECK(refusal([&] { memory.alloc(bytes(granule)); }) == HBF_OK);
}

void what_it_cannot_do_is_refused() {
    Memory memory(4 * granule);
    auto request = bytes(1);
    request.alignment = 2 * granule;
    CHECK(refusal([&] { memory.alloc(request); }) == HBF_UNSUPPORTED);
    request = bytes(1);
    request.name = "kept";
    CHECK(refusal([&] { memory.alloc(request); }) == HBF_UNSUPPORTED);
    request = bytes(1);
    request.pages = HBF_PAGES_2M;
    CHECK(refusal([&] { memory.alloc(request); }) == HBF_UNAVAILABLE);
    hbf_tier_info info{};
    memory.describe_tier(0, info);
    CHECK(info.available == info.capacity); // a refusal takes nothing
}

} // namespace

int main() {
    describes_itself();
    regions_are_aligned_apart_and_empty();
    a_full_tier_refuses_and_takes_back();
    what_it_cannot_do_is_refused();
    return wrong != 0;
}
