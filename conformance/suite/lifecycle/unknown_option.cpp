// SPDX-License-Identifier: Apache-2.0
// A mistyped setting is an error and not a slow device.
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("lifecycle.create.unknown_option",
         {.rules = {"HBF-LIFE-10"},
          .kills = {"unknown_option_ignored", "unknown_option_unnamed", "unknown_option_as_internal"}}) {
    Subject &subject = context.subject();
    for (const std::string key : {"no-such-option", "storage_pathh", "x"}) {
        hbf_instance *made = nullptr;
        const Call call = subject.create(made, {{key, "1"}});
        if (call.ok() && made) subject.plugin().destroy(made);
        context.check_status(call, HBF_INVALID, fmt::format("create with the unknown option \"{}\"", key));
        context.check(call.message.find(key) != std::string::npos, "the message does not name the unknown option \"{}\": {}",
                      key, call.message);
    }
}

} // namespace
} // namespace hbf::conformance
