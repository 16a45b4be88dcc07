// SPDX-License-Identifier: Apache-2.0
// The benches behind the speed table, each in its own file.
#pragma once

#include "bench/row.hpp"

namespace hbf {
class System;
}

namespace hbf::bench {

void process_rows(const Settings &settings, std::vector<Row> &rows); // hbf probe, libhbf.so: run before memory is taken
void runner_rows(const Settings &settings, std::vector<Row> &rows);  // hbf conformance: likewise
void copy_rows(const Settings &settings, System &system, std::vector<Row> &rows);
void scan_rows(const Settings &settings, System &system, std::vector<Row> &rows);
void attention_rows(const Settings &settings, System &system, std::vector<Row> &rows);
void placement_rows(const Settings &settings, std::vector<Row> &rows);
void decode_rows(const Settings &settings, std::vector<Row> &rows);               // the engine's attention at 128K
void tier_rows(const Settings &settings, System &system, std::vector<Row> &rows); // exact, from several tiers
void kv_rows(const Settings &settings, System &system, std::vector<Row> &rows);   // the engine's moves
void submit_rows(const Settings &settings, System &system, std::vector<Row> &rows);
void opencl_rows(const Settings &settings, std::vector<Row> &rows); // where the plugin is built
void nvidia_rows(const Settings &settings, std::vector<Row> &rows); // likewise, over emulated runtimes
void amd_rows(const Settings &settings, std::vector<Row> &rows);
void cambricon_rows(const Settings &settings, std::vector<Row> &rows);
void level_zero_rows(const Settings &settings, std::vector<Row> &rows);
void storage_rows(const Settings &settings, System &system, std::vector<Row> &rows);
void cold_rows(const Settings &settings, std::vector<Row> &rows);
void suite_rows(const Settings &settings,
                std::vector<Row> &rows); // minutes: the suite on emulated machines, the kill matrix

} // namespace hbf::bench
