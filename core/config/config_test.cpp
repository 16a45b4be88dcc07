// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "hbf/config.hpp"

namespace fs = std::filesystem;
using namespace hbf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class ConfigTest : public testing::Test {
protected:
    void SetUp() override {
        if (process_is_privileged()) GTEST_SKIP() << "privileged: the environment is not read";
        for (const auto &[name, value] : environment_with_prefix("HBF_")) unsetenv(name.c_str());
        std::string pattern = (fs::temp_directory_path() / "hbf-config-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        sources.root = dir / "root";
        setenv("XDG_CONFIG_HOME", (dir / "xdg").c_str(), 1);
        system_file = sources.root / "etc/hbf/hbf.toml";
        user_file = dir / "xdg/hbf/hbf.toml";
        fs::create_directories(system_file.parent_path());
        fs::create_directories(user_file.parent_path());
    }
    void TearDown() override {
        for (const auto &[name, value] : environment_with_prefix("HBF_")) unsetenv(name.c_str());
        fs::remove_all(dir);
    }
    static void write(const fs::path &path, const std::string &text) {
        std::ofstream(path, std::ios::binary) << text;
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    }
    std::string error() const {
        const auto config = Config::load(sources);
        return config ? "no error" : config.error().message;
    }

    fs::path dir, system_file, user_file;
    ConfigSources sources;
};

TEST_F(ConfigTest, DefaultsWithoutAnySource) {
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->get("plugins.probe_timeout_s").value, "10");
    EXPECT_EQ(config->get("plugins.probe_timeout_s").origin, Origin::built_in);
    EXPECT_EQ(config->values().size(), config_keys().size());
    EXPECT_TRUE(config->list("plugins.allow").empty());
    EXPECT_TRUE(config->notes().empty());
}

TEST_F(ConfigTest, PluginsMayGroupTheirOptions) {
    write(system_file, "[plugin.sim]\nsim.engines = 2\n\"sim.store\" = \"/s\"\n[plugin.sim.fault.copy]\nafter = 3\n");
    sources.api["plugin.sim.sim.seed"] = "9";
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    using Pair = std::pair<std::string, std::string>;
    EXPECT_THAT(config->plugin_options("sim"), ElementsAre(Pair{"fault.copy.after", "3"}, Pair{"sim.engines", "2"},
                                                           Pair{"sim.seed", "9"}, Pair{"sim.store", "/s"}));
    for (const char *bad : {"plugin.sim.a.", "plugin.sim..a", "plugin.sim.a.B", "plugin.sim.", "plugin.sim"}) {
        sources.api = {{bad, "1"}};
        EXPECT_THAT(error(), HasSubstr("unknown key")) << bad;
    }
    sources.api.clear();
    write(system_file, "[plugin.sim.fault]\n");
    EXPECT_THAT(error(), HasSubstr("plugin.sim.fault: expected a string, a number or a boolean, found a table"));
}

TEST_F(ConfigTest, EachSourceOverridesTheOneBelow) {
    write(system_file,
          "[plugins]\nallow = [\"a\"]\nprobe_timeout_s = 1\npath = [\"/system\"]\n[plugin.host]\nstorage_path = \"/s\"\n");
    write(user_file, "plugins.allow = [\"b\", \"c\"]\n[plugins]\nprobe_timeout_s = 2.5\n");
    auto config = Config::load(sources);
    ASSERT_FALSE(config) << "a dotted key and a table of the same name are not TOML";
    write(user_file, "[plugins]\nallow = [\"b\", \"c\"]\nprobe_timeout_s = 2.5\n");
    setenv("HBF_PROBE_TIMEOUT", "3", 1);
    sources.api["plugins.pin"] = "b";
    config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_THAT(config->list("plugins.allow"), ElementsAre("b", "c"));
    EXPECT_EQ(config->get("plugins.allow").origin, Origin::user_file);
    EXPECT_EQ(config->get("plugins.allow").where, user_file.string() + ":2:1");
    EXPECT_EQ(config->get("plugins.path").value, "/system");
    EXPECT_EQ(config->get("plugins.path").where, system_file.string() + ":4:1");
    EXPECT_EQ(config->get("plugins.probe_timeout_s").value, "3");
    EXPECT_EQ(config->get("plugins.probe_timeout_s").where, "HBF_PROBE_TIMEOUT");
    EXPECT_EQ(config->get("plugins.pin").origin, Origin::api);
    sources.api["plugins.probe_timeout_s"] = "4";
    EXPECT_EQ(Config::load(sources)->get("plugins.probe_timeout_s").value, "4");
}

TEST_F(ConfigTest, PluginsVariableAllowsOrDenies) {
    write(user_file, "[plugins]\nallow = [\"x\"]\ndeny = [\"a\"]\n");
    setenv("HBF_PLUGINS", "a,b", 1);
    auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_THAT(config->list("plugins.allow"), ElementsAre("a", "b"));
    EXPECT_TRUE(config->list("plugins.deny").empty()) << "the variable replaces both lists";
    setenv("HBF_PLUGINS", "^a,b", 1);
    config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_TRUE(config->list("plugins.allow").empty());
    EXPECT_THAT(config->list("plugins.deny"), ElementsAre("a", "b"));
    setenv("HBF_PLUGINS", "a,^b", 1);
    EXPECT_THAT(error(), HasSubstr("HBF_PLUGINS: \"a,^b\" mixes both forms"));
    setenv("HBF_PLUGINS", "", 1);
    EXPECT_THAT(error(), HasSubstr("HBF_PLUGINS: is set but empty"));
    setenv("HBF_PLUGINS", "^", 1);
    EXPECT_THAT(error(), HasSubstr("HBF_PLUGINS: \"\" is no plugin name"));
    setenv("HBF_PLUGINS", "a,a", 1);
    EXPECT_THAT(error(), HasSubstr("\"a\" stands there twice"));
}

TEST_F(ConfigTest, SearchPathsMustBeAbsolute) {
    setenv("HBF_PLUGIN_PATH_ADD", "/x/y:/z", 1);
    auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_THAT(config->list("plugins.path_add"), ElementsAre("/x/y", "/z"));
    for (const char *bad : {"relative", ".", "/a::/b", "/a:", ":/a", "/a/../b", "/a/./b", "/a,b"}) {
        setenv("HBF_PLUGIN_PATH", bad, 1);
        EXPECT_THAT(error(), HasSubstr("HBF_PLUGIN_PATH: ")) << bad;
    }
    unsetenv("HBF_PLUGIN_PATH");
    write(user_file, "[plugins]\npath = [\"/ok\", \"\"]\n");
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ":2:8: plugins.path: an empty element"));
    fs::remove(user_file);
    sources.api["plugins.path"] = "relative";
    EXPECT_THAT(error(), HasSubstr("API: plugins.path: \"relative\" is not an absolute path"));
}

TEST_F(ConfigTest, UnknownKeysAreErrorsWithPlaceAndSuggestion) {
    write(user_file, "# comment\n[plugins]\nalow = [\"a\"]\n\n[color]\nx = 1\n[plugin]\nhost = 3\n");
    const std::string message = error();
    EXPECT_THAT(message,
                HasSubstr(user_file.string() + ":3:1: unknown key \"plugins.alow\" (did you mean \"plugins.allow\"?)"));
    EXPECT_THAT(message, HasSubstr(":5:2: unknown key \"color\"")) << "every problem is said, not only the first";
    EXPECT_THAT(message, HasSubstr(":8:8: plugin.host: expected a table, found an integer"));
    fs::remove(user_file);
    sources.api["plugins.pni"] = "a";
    EXPECT_EQ(error(), "API: unknown key \"plugins.pni\" (did you mean \"plugins.pin\"?)");
}

TEST_F(ConfigTest, WrongTypesSayExpectedAndFound) {
    write(user_file, "[plugins]\nallow = \"a\"\ndeny = [\"a\", 3]\nprobe_timeout_s = \"10\"\n[plugin.host]\nlist = [1]\n");
    const std::string message = error();
    EXPECT_THAT(message, HasSubstr(":2:9: plugins.allow: expected a list of strings, found a string"));
    EXPECT_THAT(message, HasSubstr(":3:14: plugins.deny: expected a string in the list, found an integer"));
    EXPECT_THAT(message, HasSubstr(":4:19: plugins.probe_timeout_s: expected a number, found a string"));
    EXPECT_THAT(message, HasSubstr(":6:8: plugin.host.list: expected a string, a number or a boolean, found a list"));
    fs::remove(user_file);
    for (const char *bad : {"0", "-1", "nan", "inf", "10s", "3601", "1e99", " 1"}) {
        setenv("HBF_PROBE_TIMEOUT", bad, 1);
        EXPECT_THAT(error(), HasSubstr("HBF_PROBE_TIMEOUT: ")) << bad;
    }
}

TEST_F(ConfigTest, SwitchesAreTrueOrFalse) {
    write(user_file, "[plugins]\nallow_untrusted = true\n");
    EXPECT_EQ(Config::load(sources)->get("plugins.allow_untrusted").value, "true");
    setenv("HBF_ALLOW_UNTRUSTED", "yes", 1);
    EXPECT_EQ(error(), "HBF_ALLOW_UNTRUSTED: expected true or false, found \"yes\"");
    unsetenv("HBF_ALLOW_UNTRUSTED");
    write(user_file, "[plugins]\nallow_untrusted = 1\n");
    EXPECT_THAT(error(), HasSubstr(":2:19: plugins.allow_untrusted: expected true or false, found an integer"));
}

TEST_F(ConfigTest, PluginOptionsAreFreeScalarsFromEverySource) {
    write(system_file,
          "[plugin.host]\nstorage_path = \"/data\"\ndirect = false\nratio = 0.5\nsize = 7\n[plugin.level_zero]\nx = 1\n");
    setenv("HBF_PLUGIN_HOST_STORAGE_PATH", "/fast", 1);
    setenv("HBF_PLUGIN_LEVEL_ZERO__DEVICE", "", 1);
    sources.api["plugin.host.size"] = "9";
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    using Pair = std::pair<std::string, std::string>;
    EXPECT_THAT(config->plugin_options("host"), ElementsAre(Pair{"direct", "false"}, Pair{"ratio", "0.5"}, Pair{"size", "9"},
                                                            Pair{"storage_path", "/fast"}));
    EXPECT_THAT(config->plugin_options("level_zero"), ElementsAre(Pair{"device", ""}, Pair{"x", "1"}));
    EXPECT_TRUE(config->plugin_options("hos").empty());
    EXPECT_THAT(config->plugins_with_options(), ElementsAre("host", "level_zero"));
    EXPECT_TRUE(config->notes().empty());
}

TEST_F(ConfigTest, MistypedVariablesAreNoted) {
    setenv("HBF_PLUGNS", "a", 1);
    setenv("HBF_PLUGIN_X", "a", 1);
    setenv("HBF_SOMETHING_ELSE", "a", 1);
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    ASSERT_EQ(config->notes().size(), 2u);
    EXPECT_THAT(config->notes()[1], HasSubstr("HBF_PLUGNS is not known and has no effect (did you mean \"HBF_PLUGINS\"?)"));
}

TEST_F(ConfigTest, PrivilegedProcessesIgnoreEnvironmentAndUserFile) {
    write(system_file, "[plugins]\nallow = [\"system\"]\n");
    write(user_file, "[plugins]\nallow = [\"user\"]\n");
    setenv("HBF_PLUGIN_PATH", "/evil", 1);
    setenv("HBF_PLUGIN_HOST_STORAGE_PATH", "/evil", 1);
    sources.privileged = true;
    const auto config = Config::load(sources);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->get("plugins.allow").value, "system");
    EXPECT_EQ(config->get("plugins.path").value, "");
    EXPECT_TRUE(config->plugin_options("host").empty());
    ASSERT_EQ(config->notes().size(), 1u);
    EXPECT_THAT(config->notes()[0], HasSubstr("ignored"));
    EXPECT_FALSE(config_files(sources)[1].ignored.empty());
}

TEST_F(ConfigTest, FilesThatCannotBeTrustedOrReadAreErrors) {
    write(user_file, "[plugins]\n");
    fs::permissions(user_file, fs::perms::others_write, fs::perm_options::add);
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ": refused: writable by everyone (mode 0602)"));
    write(user_file, std::string((1 << 20) + 1, '#'));
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ": larger than 1048576 bytes"));
    write(user_file, std::string("a = 1\0b", 7));
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ": binary data"));
    write(user_file, "a = \n");
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ":1:"));
    fs::remove(user_file);
    fs::create_symlink("nowhere", user_file);
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ": No such file"));
    fs::remove(user_file);
    fs::create_directory(user_file);
    EXPECT_THAT(error(), HasSubstr(user_file.string() + ": Is a directory"));
}

TEST_F(ConfigTest, FilesOfOtherUsersAreErrors) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    write(user_file, "[plugins]\n");
    ASSERT_EQ(chown(user_file.c_str(), 4242, 4242), 0);
    EXPECT_THAT(error(), HasSubstr("owned by uid 4242"));
}

TEST_F(ConfigTest, UserFileNeedsAnAbsoluteHome) {
    setenv("XDG_CONFIG_HOME", "relative", 1);
    const char *home = std::getenv("HOME");
    const std::string saved = home ? home : "";
    setenv("HOME", "/nowhere", 1);
    EXPECT_EQ(config_files(sources)[1].path, "/nowhere/.config/hbf/hbf.toml");
    unsetenv("HOME");
    EXPECT_TRUE(config_files(sources)[1].path.empty());
    EXPECT_FALSE(config_files(sources)[1].ignored.empty());
    if (home) setenv("HOME", saved.c_str(), 1);
}

// su and setpriv can leave HOME at somebody's who lets nobody in.
TEST_F(ConfigTest, TheHomeOfSomebodyElseIsLeftAloneAndItIsSaid) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    unsetenv("XDG_CONFIG_HOME");
    fs::permissions(dir, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    const fs::path home = dir / "home";
    fs::create_directories(home / ".config/hbf");
    write(home / ".config/hbf/hbf.toml", "[plugins]\npin = [\"roots\"]\n");
    fs::permissions(home, fs::perms::owner_all);
    setenv("HOME", home.c_str(), 1);
    const auto as_nobody = [&](bool own) {
        if (own && chown(home.c_str(), 65534, 65534) != 0) return -1;
        if (own) fs::permissions(home, fs::perms::none);
        const pid_t child = fork();
        if (child == 0) {
            if (setgid(65534) != 0 || setuid(65534) != 0) _exit(100);
            const auto config = Config::load(sources);
            if (!config) _exit(config.error().code == Code::permission ? 1 : 2);
            const auto &notes = config->notes();
            const bool said = notes.size() == 1 && notes[0].find("belongs to uid 0") != std::string::npos;
            _exit(said && config->get("plugins.pin").value.empty() ? 0 : 3);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    EXPECT_EQ(as_nobody(false), 0);
    EXPECT_EQ(as_nobody(true), 1) << "in the user's own folder a file that cannot be reached is an error";
    fs::permissions(home, fs::perms::owner_all);
}

TEST_F(ConfigTest, AFileOfSomethingElseIsNotQuotedWhole) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "k" + std::to_string(i) + " = 1\n";
    write(user_file, text);
    EXPECT_LT(error().size(), 10000u);
    EXPECT_THAT(error(), HasSubstr("\nand 4980 more mistakes"));
}

TEST_F(ConfigTest, OneFileAloneCanBeChecked) {
    write(dir / "f.toml", "[plugins]\npin = [\"host\"]\n");
    setenv("HBF_PLUGIN_PIN", "other", 1);
    const auto config = Config::load_file(dir / "f.toml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->get("plugins.pin").value, "host");
    EXPECT_EQ(Config::load_file(dir / "missing.toml").error().code, Code::unavailable);
}

} // namespace
