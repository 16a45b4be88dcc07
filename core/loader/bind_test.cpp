// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "core/loader/bind.hpp"
#include "core/loader/hostile/scene.hpp"
#include "core/loader/trial.hpp"

namespace hbf::loader {
namespace {

void *open_built(const char *name, int flags) {
    void *const handle = dlopen((hostile::built() / name).c_str(), RTLD_NOW | flags);
    EXPECT_NE(handle, nullptr) << dlerror();
    return handle;
}

TEST(Bind, ABorrowedEntryIsNone) {
    ASSERT_NE(open_built("libhostile-lender.so", RTLD_GLOBAL), nullptr); // answers for the name that the next one needs
    void *const borrower = open_built("borrowed_entry.so", RTLD_LOCAL);
    ASSERT_NE(borrower, nullptr);
    ASSERT_NE(dlsym(borrower, HBF_PLUGIN_QUERY_SYMBOL), nullptr) << "dlsym itself is content with it";
    const auto entry = entry_of(borrower);
    ASSERT_FALSE(entry);
    EXPECT_EQ(entry.error().reason, Reason::not_a_plugin);
    EXPECT_NE(entry.error().detail.find("libhostile-lender.so"), std::string::npos) << entry.error().detail;
    EXPECT_TRUE(entry_of(open_built("plain_entry.so", RTLD_LOCAL)));
}

TEST(Bind, LinkerMessagesAreToldApart) {
    const auto reason = [](const char *message) { return refusal_of_dlerror(message).reason; };
    EXPECT_EQ(reason("libacme.so.1: cannot open shared object file: No such file or directory"), Reason::missing_dependency);
    EXPECT_EQ(reason("/x/a.so: undefined symbol: acme_init"), Reason::missing_dependency);
    EXPECT_EQ(reason("/lib/libc.so.6: version `GLIBC_9.9' not found (required by /x/a.so)"), Reason::missing_dependency);
    EXPECT_EQ(reason("/x/a.so: failed to map segment from shared object"), Reason::permission_denied);
    EXPECT_EQ(reason("/x/a.so: cannot allocate memory in static TLS block"), Reason::probe_failed);
}

TEST(Bind, StatusAndFirstWordOfAProbeGiveTheReason) {
    const auto reason = [](hbf_status status, const char *message) { return refusal_of_probe(status, message).reason; };
    EXPECT_EQ(reason(HBF_UNAVAILABLE, "nothing here"), Reason::no_device);
    EXPECT_EQ(reason(HBF_UNAVAILABLE, "driver_absent: x"), Reason::driver_absent);
    EXPECT_EQ(reason(HBF_UNAVAILABLE, "selected: x"), Reason::no_device) << "not every word is a plugin's to say";
    EXPECT_EQ(reason(HBF_PERMISSION, "/dev/acme0"), Reason::permission_denied);
    EXPECT_EQ(reason(HBF_BUSY, ""), Reason::device_busy);
    EXPECT_EQ(reason(HBF_INTERNAL, "driver_absent: x"), Reason::probe_failed);
    EXPECT_EQ(reason(12345, "x"), Reason::probe_failed);
    EXPECT_EQ(refusal_of_probe(HBF_UNAVAILABLE, "driver_stub:  the stub").detail, "the stub");
}

} // namespace
} // namespace hbf::loader
