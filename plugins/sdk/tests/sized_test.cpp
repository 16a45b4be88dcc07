// SPDX-License-Identifier: Apache-2.0
// Reading and writing structs of another size than ours, as they will be once a later version has appended fields: today
// every minimum is still the whole struct, so the tables cannot show it.
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "hbf/sdk/shell/sized.hpp"
#include "hbf/sdk/text.hpp"
#include "plugin_under_test.hpp"

namespace sdk_test {
namespace {

using namespace hbf::sdk;

struct Today { // the first 16 bytes are the frozen minimum
    uint32_t struct_size;
    uint32_t old_field;
    uint64_t old_value;
    uint64_t appended;
    char appended_text[8];
};

TEST(Sized, OldHostsStructIsReadToItsEndAndTheRestIsZero) {
    AtPageEnd<Today> old(16);
    old->old_field = 1;
    old->old_value = 2;
    const Today copy = shell::read(*old.get());
    EXPECT_EQ(copy.old_field, 1u);
    EXPECT_EQ(copy.old_value, 2u);
    EXPECT_EQ(copy.appended, 0u);
    EXPECT_EQ(copy.struct_size, sizeof(Today));
}

TEST(Sized, OldHostsStructIsWrittenToItsEnd) {
    AtPageEnd<Today> old(16);
    shell::write(*old.get(), Today{sizeof(Today), 1, 2, 3, "x"});
    EXPECT_EQ(old->struct_size, 16u) << "stays the host's";
    EXPECT_EQ(old->old_field, 1u);
    EXPECT_EQ(old->old_value, 2u);
}

TEST(Sized, NoRoomAtAllWritesNothing) {
    AtPageEnd<Today> old(8);
    for (const uint32_t size : {0u, 3u, 4u}) {
        old->struct_size = size;
        old->old_field = 7;
        shell::write(*old.get(), Today{sizeof(Today), 1, 2, 3, "x"});
        EXPECT_EQ(old->struct_size, size);
        EXPECT_EQ(old->old_field, 7u);
    }
}

TEST(Sized, LaterHostsTailIsNeitherReadNorWritten) {
    WithTail<Today> later;
    shell::write(later.known, Today{sizeof(Today), 1, 2, 3, "x"});
    EXPECT_TRUE(later.tail_untouched());
    EXPECT_EQ(later.known.appended, 3u);
    EXPECT_EQ(shell::read(later.known).appended, 3u);
}

TEST(Text, IsCutBetweenCharactersAndTheRestIsZero) {
    char field[6];
    std::memset(field, '#', sizeof field);
    set_text(field, "gr\u00fc\u00dfe");
    EXPECT_STREQ(field, "gr\u00fc");
    EXPECT_EQ(field[5], '\0');
    set_text(field, "a");
    EXPECT_EQ(std::memcmp(field, "a\0\0\0\0\0", 6), 0);
    set_text(field, {});
    EXPECT_STREQ(field, "");
    set_text(field, "12345");
    EXPECT_STREQ(field, "12345");
}

} // namespace
} // namespace sdk_test
