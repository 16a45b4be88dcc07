// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/catalogue.hpp"

namespace hbf::conformance::catalogue {

std::vector<Mutant> security() {
    return {
        {.name = "host_trust_off",
         .description = "no file or folder is too open to be loaded from",
         .base = Base::guard,
         .variant = "trust_off",
         .killers = {"security.untrusted_dir_refused"}},
        {.name = "host_privileged_reads_env",
         .description = "a privileged process lets its environment choose plugins",
         .base = Base::guard,
         .variant = "privileged_reads_env",
         .killers = {"security.privileged_ignores_env"}},
        {.name = "host_searches_relative",
         .description = "search folders may be relative to the working directory",
         .base = Base::guard,
         .variant = "searches_relative",
         .killers = {"security.relative_path_refused"}},
        {.name = "storage_world_readable",
         .description = "the files of regions can be read by anybody",
         .base = Base::host,
         .fault = "stored-files-open,what=mode",
         .killers = {"security.storage_mode"},
         .options = {{"storage_path", "@folder"}}},
        {.name = "storage_links_followed",
         .description = "the files of regions are opened through links",
         .base = Base::host,
         .fault = "stored-files-open,what=links-followed",
         .killers = {"security.storage_mode"},
         .options = {{"storage_path", "@folder"}}},
        {.name = "storage_unlocked",
         .description = "two processes may have a region open",
         .base = Base::host,
         .fault = "stored-files-open,what=unlocked",
         .killers = {"security.storage_mode"},
         .options = {{"storage_path", "@folder"}}},
        {.name = "host_ignores_silently",
         .description = "what the environment of a privileged process asks for is ignored without a word",
         .base = Base::guard,
         .variant = "ignores_silently",
         .killers = {"security.privileged_ignores_env"}},
        {.name = "host_untrusted_unseen",
         .description = "what is not trusted is not even mentioned",
         .base = Base::guard,
         .variant = "untrusted_unseen",
         .killers = {"security.untrusted_dir_refused"}},
    };
}

} // namespace hbf::conformance::catalogue
