// SPDX-License-Identifier: Apache-2.0
// Puts a trace together: names of blocks become dense numbers, requests get their limits.
#pragma once

#include <string>
#include <unordered_map>

#include "tools/replay/trace.hpp"

namespace hbf::replay {

class Builder {
public:
    // Errors are for the line that is being read; "" if all is well.
    std::string begin_request(double seconds);
    std::string add(uint64_t block, uint32_t tokens);
    Trace finish(Trace trace);

private:
    std::unordered_map<uint64_t, BlockId> ids_;
    std::vector<PathBlock> accesses_;
    std::vector<size_t> starts_;
    double first_ = 0, last_ = 0;
    size_t back_ = 0; // requests whose time lies before the one before
};

// One line of a format each; "" or what is wrong.
class CsvReader { // timestamp_ms,request_id,block_id,tokens; a request's lines follow each other
public:
    std::string line(std::string_view text, size_t number, Builder &builder);

private:
    std::string request_;
};
// Mooncake: {"timestamp": ms, "input_length", "output_length", "hash_ids": [...]}, blocks of 512 tokens.
// Qwen-Bailian: {"chat_id", "parent_chat_id", "timestamp": s, "input_length", ..., "hash_ids": [...]}, blocks of 16 tokens.
std::string json_line(std::string_view text, bool bailian, Builder &builder);
bool is_bailian(std::string_view line);

} // namespace hbf::replay
