// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/identity/identity.hpp"

namespace hbf::kv {
namespace {

Identity id(uint8_t first) {
    Identity identity;
    identity.bytes[0] = first;
    return identity;
}

// sha256sum of the same bytes: 01000000 0e00000000000000 "hbf.kv.model/1" and so on, written by hand below.
TEST(Identity, IsTheSha256OfTaggedFields) {
    std::string bytes;
    const auto number = [&](uint64_t value, size_t size) {
        for (; size > 0; --size, value >>= 8) bytes += static_cast<char>(value & 255);
    };
    const auto field = [&](uint32_t tag, const std::string &value) {
        number(tag, 4);
        number(value.size(), 8);
        bytes += value;
    };
    field(1, "hbf.kv.model/1");
    field(16, "tiny");
    field(17, std::string(32, '\0'));
    field(18, "");
    field(19, "rope 10000");
    sha256_ctx state;
    Identity expected;
    sha256_init(&state);
    sha256_update(&state, bytes.size(), reinterpret_cast<const uint8_t *>(bytes.data()));
    sha256_digest(&state, expected.bytes.size(), expected.bytes.data());
    EXPECT_EQ(model_identity({"tiny", {}, "", "rope 10000"}), expected);
}

TEST(Identity, Sha256IsSha256) { // FIPS 180-2, appendix B.1
    sha256_ctx state;
    Identity digest;
    sha256_init(&state);
    sha256_update(&state, 3, reinterpret_cast<const uint8_t *>("abc"));
    sha256_digest(&state, digest.bytes.size(), digest.bytes.data());
    EXPECT_EQ(to_hex(digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// A change of the digest would orphan every log on disk: this one stands for the format.
TEST(Identity, OfAKnownBlockStaysTheSame) {
    const std::vector<uint32_t> tokens{1, 2, 3, 4};
    const BlockIdentities blocks(id(1), id(2), "tenant");
    EXPECT_EQ(to_hex(blocks.of({}, tokens)), "e704201bc6209299eea32c02db2bdd232dedfb4133e31b19c5b1233ac3d0875f");
}

TEST(Identity, EveryFactOfAModelAndALayoutCounts) {
    const ModelFacts model{"m", id(1), "a", "p"};
    std::vector<ModelFacts> models(5, model);
    models[1].name = "n";
    models[2].weights = id(2);
    models[3].adapter = "";
    models[4].positions = "q";
    std::set<Identity> seen;
    for (const auto &facts : models) seen.insert(model_identity(facts));
    EXPECT_EQ(seen.size(), models.size());

    const LayoutFacts layout{Element::fp16, 32, 8, 128, 0, 2, "tiles"};
    const std::vector<std::function<void(LayoutFacts &)>> changes{
        [](LayoutFacts &) {},
        [](LayoutFacts &facts) { facts.element = Element::bf16; },
        [](LayoutFacts &facts) { facts.layers = 8, facts.kv_heads = 32; },
        [](LayoutFacts &facts) { facts.head_size = 64; },
        [](LayoutFacts &facts) { facts.shard = 1; },
        [](LayoutFacts &facts) { facts.shards = 4; },
        [](LayoutFacts &facts) { facts.arrangement = "rows"; },
    };
    seen.clear();
    for (const auto &change : changes) {
        LayoutFacts facts = layout;
        change(facts);
        seen.insert(layout_identity(facts));
    }
    EXPECT_EQ(seen.size(), changes.size());
}

TEST(Identity, BlocksDifferByEverythingTheirBytesDependOn) {
    const std::vector<uint32_t> tokens{1, 2, 3}, longer{1, 2, 3, 0}, other{1, 2, 4};
    const std::byte image[]{std::byte{7}};
    std::set<Identity> seen;
    size_t count = 0;
    const auto add = [&](const Identity &identity) {
        seen.insert(identity);
        ++count;
    };
    for (const uint8_t model : {1, 2})
        for (const uint8_t layout : {3, 4})
            for (const char *tenant : {"", "a", "b"}) {
                const BlockIdentities blocks(id(model), id(layout), tenant);
                add(blocks.of({}, tokens));
                add(blocks.of({}, longer));
                add(blocks.of({}, other));
                add(blocks.of({}, {}));
                add(blocks.of(id(9), tokens));
                add(blocks.of({}, tokens, image));
            }
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(BlockIdentities(id(1), id(3), "a").of({}, tokens), BlockIdentities(id(1), id(3), "a").of({}, tokens));
}

// What one field loses, the next gains: the same bytes in a row, and yet another digest (a LoRA's name against a salt).
TEST(Identity, FieldsDoNotRunIntoEachOther) {
    EXPECT_NE(model_identity({"ab", {}, "c", ""}), model_identity({"a", {}, "bc", ""}));
    EXPECT_NE(model_identity({"m", {}, "x", ""}), model_identity({"m", {}, "", "x"}));
    EXPECT_NE(Fields("a").add(Field::extra, "b").digest(), Fields("a").add(Field::tenant, "b").digest());
}

TEST(Identity, HexGoesBothWays) {
    const Identity identity = model_identity({"m", {}, "", ""});
    EXPECT_EQ(identity_from_hex(to_hex(identity)), identity);
    EXPECT_EQ(identity_from_hex(""), std::nullopt);
    EXPECT_EQ(identity_from_hex(to_hex(identity) + "0"), std::nullopt);
    std::string wrong = to_hex(identity);
    wrong[5] = 'g';
    EXPECT_EQ(identity_from_hex(wrong), std::nullopt);
    EXPECT_EQ(identity_from_hex(std::string(64, 'F'))->bytes[31], 255);
}

} // namespace
} // namespace hbf::kv
