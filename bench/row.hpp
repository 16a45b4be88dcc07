// SPDX-License-Identifier: Apache-2.0
// A row of the speed table: our figure beside its reference, in pairs taken in turn in one run, and the bar.
//
// A bench is a function that appends rows (rows.hpp lists them). It takes at least Settings::pairs pairs; a reference that
// is not here (fio not installed) gives a row that says so, which is no pass.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hbf::bench {

struct Settings {
    size_t pairs = 15;             // at least 10
    std::string build = "build";   // build folder, for what is run as a program
    std::vector<std::string> only; // parts of row names; empty: all
    std::string storage;           // folder for the storage rows, "": the build folder
    std::function<void(const std::string &)> progress;

    bool wants(const std::string &row) const;
    void tell(const std::string &text) const {
        if (progress) progress(text);
    }
};

enum class Bar {
    ratio_at_least, // ours / reference >= bar: a bandwidth
    ratio_at_most,  // ours / reference <= bar: a time
    excess_at_most, // ours - reference <= bar: a time
    at_most,        // ours <= bar, whatever the reference
    none,           // ours / reference, to be seen: holds whatever it is
};

struct Row {
    std::string name, unit, reference; // "queue copy, 1 MiB, cold", "GB/s", "best of memcpy, streaming"
    Bar kind = Bar::ratio_at_least;
    double bar = 0;
    std::vector<double> ours, theirs; // a pair each; theirs empty where there is no reference to compare with
    std::string missing;              // why it could not be measured
    std::vector<std::string> notes;

    std::vector<double> compared() const; // what the bar is held against, a value a pair
    bool holds() const;                   // the median of `compared` meets the bar
};

// Runs `tries` in turn, each time beginning with another one: drift hits all alike. A try returns its figure.
using Try = std::function<double()>;
std::vector<std::vector<double>> interleave(const Settings &settings, const std::vector<Try> &tries);

std::string table_of(const std::vector<Row> &rows);
std::string json_of(const std::vector<Row> &rows);

} // namespace hbf::bench
