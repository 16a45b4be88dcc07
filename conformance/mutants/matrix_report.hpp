// SPDX-License-Identifier: Apache-2.0
// The kill matrix for people, for programs, and as the golden table in the repository.
#pragma once

#include <string>
#include <vector>

#include "conformance/mutants/matrix.hpp"

namespace hbf::conformance {

std::string matrix_text(const Matrix &matrix);
std::string matrix_json(const Matrix &matrix);

// Markdown: a line for each of `mutants`, with what it is, who must find it, and who else did: as a full run found that
// tried it, else as it stands in `before`, the table so far.
std::string matrix_table(const Matrix &matrix, const std::vector<Mutant> &mutants, const std::string &before = {});
// A sentence for each mutant that `table` lacks, has otherwise, or has and the catalogue does not. Who else found a mutant
// is not compared: it may depend on the machine.
std::vector<std::string> table_differences(const std::string &table, const std::vector<Mutant> &mutants);

} // namespace hbf::conformance
