// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/system_open.hpp"
#include "core/fabric/testing/fixture.hpp"

namespace hbf::testing {
namespace {

class Systems : public FabricTest {
protected:
    static Candidate candidate(const std::string &name, const std::vector<std::string> &ids) {
        Candidate made;
        made.name = name;
        made.reason = Reason::selected;
        made.stage = Stage::open;
        made.plugin = fake_plugin();
        for (const std::string &id : ids) {
            ProbedDevice device;
            device.id = id;
            device.name = "probed " + id;
            made.devices.push_back(device);
        }
        return made;
    }
    Result<std::vector<Device>> open_all() { return fabric::open_devices(selection, config, "/", false); }
    Selection selection;
    Config config;
};

TEST_F(Systems, OpensEveryDeviceThePrimarysFirst) {
    selection.candidates = {candidate("first", {"b"}), candidate("second", {"a"})};
    auto devices = must(open_all());
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(devices[0].id(), "b");
    EXPECT_EQ(devices[0].name(), "probed b") << "what probe said is not asked for again";
    EXPECT_EQ(devices[1].id(), "a");
    EXPECT_TRUE(selection.notes.empty());
}

TEST_F(Systems, ACreateThatFailsIsRecordedAndTheNextGoOn) {
    script.create_status = HBF_PERMISSION;
    selection.candidates = {candidate("first", {"a"}), candidate("second", {"b"})};
    auto devices = must(open_all());
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(selection.candidates[0].name, "second") << "selected ones first";
    EXPECT_EQ(selection.candidates[1].reason, Reason::create_failed);
    EXPECT_TRUE(contains(selection.candidates[1].detail, "told not to open")) << selection.candidates[1].detail;
    ASSERT_EQ(selection.notes.size(), 1u) << "never silent";
    EXPECT_TRUE(contains(selection.notes[0], "the primary plugin first did not open"));
    EXPECT_TRUE(contains(selection.notes[0], "primary is now second")) << selection.notes[0];
}

TEST_F(Systems, OneDeviceOfSeveralThatFailsIsNoted) {
    script.create_status = HBF_BUSY;
    selection.candidates = {candidate("first", {"a", "b"})};
    EXPECT_EQ(must(open_all()).size(), 1u);
    EXPECT_EQ(selection.candidates[0].reason, Reason::selected);
    ASSERT_EQ(selection.notes.size(), 1u);
}

TEST_F(Systems, NoDeviceAtAllListsTheReasons) {
    script.create_status = other_script.create_status = HBF_UNAVAILABLE;
    Candidate refused;
    refused.name = "third";
    refused.reason = Reason::untrusted_path;
    refused.detail = "/tmp is writable by everyone";
    selection.candidates = {candidate("first", {"a"}), candidate("second", {"b"}), refused};
    const auto devices = open_all();
    ASSERT_EQ(code_of(devices), Code::unavailable);
    for (const char *part : {"first", "second", "told not to open", "third", "writable by everyone"})
        EXPECT_TRUE(contains(devices.error().message, part)) << devices.error().message;
}

// That there is nothing to open, and that what is there does not open, are different answers.
TEST_F(Systems, NothingToOpenIsUnsupported) {
    EXPECT_EQ(code_of(open_all()), Code::unsupported);
    Candidate other;
    other.name = "other";
    for (auto reason : {Reason::no_device, Reason::driver_absent, Reason::denied_by_config, Reason::not_in_allow_list}) {
        other.reason = reason;
        selection.candidates = {other};
        EXPECT_EQ(code_of(open_all()), Code::unsupported) << to_string(reason);
    }
    for (auto reason : {Reason::untrusted_path, Reason::probe_crashed, Reason::permission_denied, Reason::driver_too_old}) {
        other.reason = reason;
        selection.candidates.push_back(other);
        EXPECT_EQ(code_of(open_all()), Code::unavailable) << to_string(reason);
        selection.candidates.pop_back();
    }
}

TEST(Version, IsThere) {
    EXPECT_FALSE(version().empty());
}

} // namespace
} // namespace hbf::testing
