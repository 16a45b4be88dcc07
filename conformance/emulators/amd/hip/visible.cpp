// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/hip/visible.hpp"

#include <charconv>
#include <cstdlib>

namespace hbf::emulated::hip {

std::vector<int> chosen(const std::vector<int> &from, std::string_view list) {
    std::vector<int> out;
    while (!list.empty()) {
        const size_t end = list.find(',');
        const std::string_view one = list.substr(0, end);
        size_t ordinal = 0;
        const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), ordinal);
        if (error != std::errc() || stop != one.data() + one.size() || ordinal >= from.size()) break;
        out.push_back(from[ordinal]);
        if (end == std::string_view::npos) break;
        list.remove_prefix(end + 1);
    }
    return out;
}

std::vector<int> visible_devices(std::vector<int> all) {
    if (const char *const list = std::getenv("ROCR_VISIBLE_DEVICES")) all = chosen(all, list);
    const char *list = std::getenv("HIP_VISIBLE_DEVICES");
    if (!list) list = std::getenv("CUDA_VISIBLE_DEVICES");
    return list ? chosen(all, list) : all;
}

} // namespace hbf::emulated::hip
