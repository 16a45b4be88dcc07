// SPDX-License-Identifier: Apache-2.0
// The parameters of one fault, checked against those it knows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::inject {

// One parameter: `bytes=8`. What a value may be is told by `kind`.
struct Parameter {
    enum Kind { count, probability, word, name };
    std::string_view key;
    Kind kind = count;
    std::string_view preset = {};               // the value when none is given
    std::string_view line = {};                 // for people
    std::vector<std::string_view> choices = {}; // of a word
};

class Settings {
public:
    Settings() = default;
    // `text`: "after=3,bytes=8", or "". Throws sdk::Failure INVALID naming fault, parameter, value and remedy.
    Settings(std::string_view fault, std::string_view text, const std::vector<Parameter> &known);

    uint64_t number(std::string_view key) const;
    double probability(std::string_view key) const;
    const std::string &text(std::string_view key) const;
    bool has(std::string_view key) const { return values_.find(key) != values_.end(); } // a parameter of this fault
    bool given(std::string_view key) const { return !text(key).empty(); }

private:
    std::map<std::string, std::string, std::less<>> values_; // every parameter the fault knows
};

} // namespace hbf::inject
