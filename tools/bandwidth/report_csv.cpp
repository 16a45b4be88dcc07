// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/bandwidth/report.hpp"

namespace hbf::tools::bandwidth {

std::string report_csv(const Run &run) {
    auto quoted = [](std::string text) {
        for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
        return '"' + text + '"';
    };
    std::string out = "src,executor,dst,shape,status,emulated,sample,queue_gb_per_s,wall_gb_per_s,queue_seconds,gated,"
                      "contended,verified\n";
    for (const auto &row : run.rows) {
        for (size_t i = 0; i < row.samples.size(); ++i) {
            const auto &record = row.samples[i];
            const bool contended = record.contention && record.contention->contended;
            out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(row.src), quoted(row.executor),
                               quoted(row.dst), quoted(row.spec.what), status_name(row.status), row.emulated, i + 1,
                               row.gbs[i], row.wall_gbs[i], record.sample.queue_seconds, record.sample.gated, contended,
                               !record.sample.mismatch);
        }
    }
    return out;
}

} // namespace hbf::tools::bandwidth
