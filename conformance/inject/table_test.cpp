// SPDX-License-Identifier: Apache-2.0
// The table of faults: sound in itself, and the one in docs/conformance.md. HBF_UPDATE_DOCS=1 writes it there.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

TEST(Table, EveryFaultIsNamedAndDescribed) {
    std::set<std::string_view> names;
    for (const FaultInfo *fault : all_faults()) {
        EXPECT_TRUE(names.insert(fault->name).second) << fault->name;
        EXPECT_EQ(fault->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), fault->name.npos) << fault->name;
        EXPECT_FALSE(fault->line.empty() || fault->line.ends_with('.') || fault->line.find('|') != fault->line.npos)
            << fault->name;
        std::set<std::string_view> keys;
        for (const Parameter &parameter : fault->all_parameters()) {
            EXPECT_TRUE(keys.insert(parameter.key).second) << fault->name << ' ' << parameter.key;
            EXPECT_FALSE(parameter.line.empty()) << fault->name << ' ' << parameter.key;
        }
        EXPECT_EQ(make_faults(fault->name).size(), 1u) << fault->name; // its presets are values that it takes
    }
}

// Every value that is listed is taken.
TEST(Table, EveryChoiceIsTaken) {
    for (const FaultInfo *fault : all_faults())
        for (const Parameter &parameter : fault->parameters)
            for (const std::string_view choice : parameter.choices)
                EXPECT_EQ(
                    make_faults(std::string(fault->name) + "," + std::string(parameter.key) + "=" + std::string(choice))
                        .size(),
                    1u);
}

TEST(Table, IsTheOneInTheDocument) {
    const char *path = std::getenv("HBF_INJECT_DOC");
    ASSERT_NE(path, nullptr);
    std::stringstream stream;
    stream << std::ifstream(path).rdbuf();
    std::string document = stream.str();
    const std::string begin = "<!-- faults: written by test_inject_table with HBF_UPDATE_DOCS=1 -->\n",
                      end = "<!-- end of faults -->";
    const size_t first = document.find(begin), last = document.find(end);
    ASSERT_TRUE(first != document.npos && last != document.npos && first < last) << path << " has no place for the table";
    const size_t place = first + begin.size();
    const std::string actual = document.substr(place, last - place);
    if (std::getenv("HBF_UPDATE_DOCS")) {
        document.replace(place, last - place, faults_table());
        std::ofstream(path) << document;
    } else {
        EXPECT_EQ(actual, faults_table()) << "run the test with HBF_UPDATE_DOCS=1";
    }
}

} // namespace
} // namespace hbf::inject
