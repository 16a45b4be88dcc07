// SPDX-License-Identifier: Apache-2.0
// The project template of plugins/sdk/template: where it lies, and its files with the placeholders filled in.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace hbf::tools::plugin {

struct TemplateFile {
    std::filesystem::path path; // relative to the project
    std::string content;
    bool program = false; // to be executable
};

using Placeholders = std::map<std::string, std::string>; // "NAME" -> what @NAME@ becomes

// share/hbf/template above the folder of libhbf; of a build tree, that of its sources.
tl::expected<std::filesystem::path, std::string> template_folder();

// Every file below `folder`, sorted, filled in. The error names the file.
tl::expected<std::vector<TemplateFile>, std::string> read_template(const std::filesystem::path &folder,
                                                                   const Placeholders &values);

// Each @WORD@ of capitals and '_' becomes its value. What is put in is not looked at again. An unknown word is an error.
tl::expected<std::string, std::string> filled(const std::string &text, const Placeholders &values);

} // namespace hbf::tools::plugin
