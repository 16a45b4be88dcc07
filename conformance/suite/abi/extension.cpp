// SPDX-License-Identifier: Apache-2.0
// Extensions: an id is what its bytes say, up to its size; what is not known is NULL, what is known stays.
#include <array>
#include <cstring>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/guarded.hpp"

namespace hbf::conformance {
namespace {

constexpr std::array known = {HBF_EXT_TIER, HBF_EXT_QUEUE, HBF_EXT_COHERENCE, HBF_EXT_KERNELS, HBF_EXT_HEALTH};

// The id in memory that ends with it: no NUL to find.
const void *ask(Context &context, std::string_view id) {
    const GuardedBytes bytes(id.size());
    std::memcpy(bytes.data(), id.data(), id.size());
    const void *const table = context.subject().plugin().get_extension(context.device().handle(),
                                                                       {reinterpret_cast<char *>(bytes.data()), id.size()});
    context.check(!bytes.touched(), "get_extension read byte {} of an id of {} bytes",
                  id.size() + bytes.touched().value_or(0), id.size());
    return table;
}

HBF_CASE("abi.extension.unknown_id_returns_null",
         {.rules = {"HBF-ABI-8", "HBF-ABI-9"},
          .kills = {"m41_missing_symbol", "extension_unknown", "extension_reads_nul", "extension_moves"}}) {
    Instance &device = context.device();
    std::array<const void *, known.size()> tables{};
    for (size_t i = 0; i < known.size(); ++i) tables[i] = ask(context, known[i]);
    const std::string endless(4000, 'x');
    for (const std::string_view id : {"hbf.tier/2", "hbf.tier/", "hbf.tier", "hbf.tier/11", "hbf.tier/1 ", "HBF.TIER/1",
                                      "hbf.queue/0", "hbf.nosuch/1", "com.example.private/7", "", endless.c_str()})
        context.check(!ask(context, id), "the unknown id \"{}\" gets a table, where NULL is due", id);

    {
        const Queue queue(device);
        device.must_run(queue, {});
    }
    for (size_t i = 0; i < known.size(); ++i)
        context.check(ask(context, known[i]) == tables[i], "{} is another table when it is asked for again", known[i]);
}

} // namespace
} // namespace hbf::conformance
