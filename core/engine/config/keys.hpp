// SPDX-License-Identifier: Apache-2.0
// The closed table of h3.toml's keys: how a value is read from text, and how it is checked alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hbf/kv.hpp"

namespace hbf::kv::config {

enum class Kind {
    number,    // in least..most
    whole,     // in least..most
    automatic, // a number, or "auto"
    word,      // one of `words`
    folder,    // an absolute path, or empty
};

struct Key {
    ConfigKey facts;
    Kind kind;
    double least, most;
    std::vector<std::string> words;
    void (*set)(Settings &settings, double number, const std::string &text, bool automatic);
};

const std::vector<Key> &table();
const Key *find_key(std::string_view name); // nullptr: not in the table

// `unknown key "kv.chunksize" (did you mean "kv.chunk_size"?)`
std::string unknown_key(const std::string &name);

// Reads `text` as the key's value into `settings`. What is wrong with it, "" if nothing.
std::string assign(const Key &key, const std::string &text, Settings &settings);

// Every combination that cannot work, each with the reason.
std::vector<std::string> judge(const Settings &settings);

// The values in `settings` as assign() would be given them, in the order of the table.
std::vector<std::string> texts(const Settings &settings);

} // namespace hbf::kv::config
