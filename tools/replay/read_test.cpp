// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/replay/capacity.hpp"

namespace hbf::replay {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Read : public testing::Test {
protected:
    Read() {
        std::string pattern = (std::filesystem::temp_directory_path() / "hbf-replay-XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
    }
    ~Read() override { std::filesystem::remove_all(folder); }
    std::filesystem::path write(const std::string &text) {
        std::ofstream(folder / "t") << text;
        return folder / "t";
    }
    std::string error(const std::string &text, const std::string &format = "auto") {
        const auto trace = read_trace(write(text), format);
        return trace ? "read" : trace.error();
    }
    std::filesystem::path folder;
};

const std::string header = "timestamp_ms,request_id,block_id,tokens\n";

TEST_F(Read, Csv) {
    const auto trace = read_trace(write(header + "0,0,70,512\n0,0,71,100\n1500.5,1,70,512\r\n"), "auto");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->format, "csv");
    EXPECT_EQ(trace->requests(), 2u);
    EXPECT_EQ(trace->blocks, 2u);
    EXPECT_EQ(trace->tokens(), 1124u);
    EXPECT_DOUBLE_EQ(trace->seconds, 1.5005);
    ASSERT_EQ(trace->path(0).size(), 2u);
    EXPECT_EQ(trace->path(0)[1].tokens, 100u);
    EXPECT_EQ(trace->path(1)[0].id, 0u);
    EXPECT_TRUE(trace->notes.empty());
}

TEST_F(Read, MooncakeLines) {
    const auto trace = read_trace(write("{\"timestamp\": 27482, \"input_length\": 1100, \"output_length\": 3, "
                                        "\"hash_ids\": [46, 47, 2353]}\n\n{\"timestamp\": 30482, \"input_length\": 512, "
                                        "\"output_length\": 3, \"hash_ids\": [46]}\n"),
                                  "auto");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->format, "mooncake");
    EXPECT_EQ(trace->tokens(), 1100u + 512);
    EXPECT_EQ(trace->path(0)[2].tokens, 1100u - 1024);
    EXPECT_DOUBLE_EQ(trace->seconds, 3);
}

TEST_F(Read, BailianLines) {
    const auto trace =
        read_trace(write("{\"chat_id\": 1, \"parent_chat_id\": -1, \"timestamp\": 61.5, \"input_length\": 20, "
                         "\"output_length\": 9, \"type\": \"text\", \"turn\": 1, \"hash_ids\": "
                         "[18446744073709551615, 5]}\n"),
                   "auto");
    ASSERT_TRUE(trace) << trace.error();
    EXPECT_EQ(trace->format, "bailian");
    EXPECT_EQ(trace->path(0)[0].tokens, 16u);
    EXPECT_EQ(trace->path(0)[1].tokens, 4u);
}

TEST_F(Read, MistakesNameFileLineAndRemedy) {
    EXPECT_THAT(error("a,b\n"),
                HasSubstr("t:1: the first line is 'a,b', expected 'timestamp_ms,request_id,block_id,tokens'"));
    EXPECT_THAT(error(header + "0,0,1\n"), HasSubstr("t:2: 3 fields, expected 4"));
    EXPECT_THAT(error(header + "0,0,1,2,3\n"), HasSubstr("t:2: 5 fields, expected 4"));
    EXPECT_THAT(error(header + "soon,0,1,2\n"), HasSubstr("t:2: timestamp_ms 'soon'"));
    EXPECT_THAT(error(header + "0,0,-1,2\n"), HasSubstr("t:2: block_id '-1'"));
    EXPECT_THAT(error(header + "0,0,1,512\n0,0,1,0\n"), HasSubstr("t:3: tokens '0'"));
    EXPECT_THAT(error(header + "0,0,1,4294967296\n"), HasSubstr("tokens '4294967296'"));
    EXPECT_THAT(error(header), HasSubstr("no request in it"));
    EXPECT_THAT(error(""), HasSubstr("no request in it"));
    EXPECT_THAT(error("{\"timestamp\": 1,\n"), HasSubstr("t:1: "));
    EXPECT_THAT(error("{\"timestamp\": 1}\n"), EndsWith("t:1: no whole number 'input_length'"));
    EXPECT_THAT(error("{\"timestamp\": 1, \"input_length\": 5}\n"), EndsWith("no list of whole numbers 'hash_ids'"));
    EXPECT_THAT(error("{\"timestamp\": 1, \"input_length\": 5, \"hash_ids\": [1, -2]}\n"), HasSubstr("'hash_ids'"));
    EXPECT_THAT(error("{\"timestamp\": \"x\", \"input_length\": 5, \"hash_ids\": [1]}\n"), HasSubstr("'timestamp'"));
    EXPECT_THAT(error("[1]\n", "mooncake"), HasSubstr("'timestamp'"));
    EXPECT_THAT(read_trace(folder / "none", "auto").error(), HasSubstr("none: No such file"));
    EXPECT_THAT(read_trace(folder, "auto").error(), HasSubstr("not a regular file"));
}

TEST_F(Read, ATornPackIsAnErrorNotAShorterTrace) {
    const auto whole = std::filesystem::path(HBF_TRACES) / "mooncake_synthetic.csv.zst";
    std::ifstream in(whole, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    ASSERT_GT(bytes.size(), 100'000u);
    EXPECT_THAT(error(bytes.substr(0, bytes.size() / 2)), HasSubstr("after line"));
    bytes[bytes.size() / 2] ^= 0x10;
    EXPECT_NE(error(bytes), "read");
}

TEST_F(Read, RequestsOutOfOrderAreSaid) {
    const auto trace = read_trace(write(header + "9,0,1,5\n3,1,1,5\n"), "auto");
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->notes.size(), 1u);
    EXPECT_THAT(trace->notes[0], HasSubstr("1 requests are earlier than the one before"));
}

TEST_F(Read, Capacities) {
    const auto trace = read_trace(write(header + "0,0,1,512\n0,0,2,512\n0,0,3,12\n"), "auto");
    ASSERT_TRUE(trace);
    const auto blocks = [&](const std::string &text) {
        const auto capacity = parse_capacity(text, *trace, 1024);
        return capacity ? std::to_string(capacity->blocks) : capacity.error();
    };
    EXPECT_EQ(blocks("100%"), "3");
    EXPECT_EQ(blocks("34%"), "1");
    EXPECT_EQ(blocks("0.01%"), "1");
    EXPECT_EQ(blocks("2"), "2");
    EXPECT_EQ(blocks("9000"), "3");
    EXPECT_EQ(blocks("1MiB"), "2");
    EXPECT_THAT(blocks("0"), HasSubstr("capacity '0': a cache of no block"));
    EXPECT_THAT(blocks("0%"), HasSubstr("from above 0% to 100%"));
    EXPECT_THAT(blocks("101%"), HasSubstr("from above 0% to 100%"));
    EXPECT_THAT(blocks("much"), HasSubstr("expected a share of the trace (5%)"));
    EXPECT_THAT(blocks("1KiB"), HasSubstr("a block of 512 tokens takes 512 KiB"));
}

} // namespace
} // namespace hbf::replay
