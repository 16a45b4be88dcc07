// SPDX-License-Identifier: Apache-2.0
// Writes the made-up runs in every form, for tests that read them with other programs:  write_samples FOLDER
#include <cstdio>
#include <filesystem>

#include "conformance/report/report.hpp"
#include "conformance/report/testing/sample_run.hpp"
#include "conformance/runner/decide.hpp"
#include "core/output/file.hpp"

int main(int argc, char **argv) {
    using namespace hbf::conformance;
    if (argc != 2) return 2;
    const std::filesystem::path folder = argv[1];
    const auto write = [&](const char *name, const std::string &content) {
        const auto written = hbf::write_file(folder / name, content);
        if (!written) std::fprintf(stderr, "%s\n", written.error().c_str());
        return written.has_value();
    };
    const RunRecord bad = sample_run();
    RunRecord good = clean_run(1);
    decide(good, 0);
    const bool all = write("bad.json", report_json(bad)) && write("bad.html", report_html(bad)) &&
                     write("bad.xml", report_junit(bad)) && write("good.json", report_json(good)) &&
                     write("good.html", report_html(good)) && write("good.xml", report_junit(good));
    return all ? 0 : 3;
}
