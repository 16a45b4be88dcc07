// SPDX-License-Identifier: Apache-2.0
#include "core/loader/open.hpp"

#include <list>
#include <mutex>
#include <vector> // Boost.DLL 1.74 forgets it

#include <boost/dll/shared_library.hpp>
#include <dlfcn.h>
#include <sys/stat.h>

#include "core/loader/bind.hpp"

namespace hbf::loader {
namespace {

struct Opened {
    FileIdentity identity;
    boost::dll::shared_library library;
    const hbf_plugin *table;
};

struct Registry {
    std::mutex mutex;
    std::list<Opened> libraries;
};

// Never destroyed: at exit a plugin's threads may still run.
Registry &registry() {
    static Registry *const the_one = new Registry;
    return *the_one;
}

} // namespace

tl::expected<const hbf_plugin *, Refusal> open_plugin(const std::filesystem::path &library, const FileIdentity &identity,
                                                      const std::string &name) {
    // All folders on the way are writable by root and the user only, so this check cannot be raced by others.
    struct stat facts = {};
    if (stat(library.c_str(), &facts) != 0 || FileIdentity::of(facts) != identity) {
        return tl::unexpected(Refusal{Reason::probe_failed, "the file changed since it was probed; remedy: run this again"});
    }
    Registry &all = registry();
    const std::lock_guard guard(all.mutex);
    for (const Opened &opened : all.libraries) {
        if (opened.identity == identity) return opened.table;
    }
    // Boost.DLL knows no name for NODELETE, and its default would resolve lazily: an unresolved symbol would end the
    // process at the call.
    constexpr auto mode = static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    boost::dll::shared_library handle;
    try {
        handle.load(library, mode);
    } catch (const std::exception &error) {
        return tl::unexpected(refusal_of_dlerror(error.what()));
    }
    const auto entry = entry_of(handle.native());
    if (!entry) return tl::unexpected(entry.error());
    const auto table = query_table(*entry, name);
    if (!table) return tl::unexpected(table.error());
    all.libraries.push_back({identity, std::move(handle), *table});
    return *table;
}

} // namespace hbf::loader
