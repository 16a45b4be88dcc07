// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/signature.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "conformance/report/package.hpp"
#include "core/common/child_process.hpp"
#include "core/common/printable.hpp"
#include "core/common/read_file.hpp"
#include "core/output/file.hpp"

namespace hbf::conformance {
namespace {

// A folder of this process alone, gone with the object.
class PrivateFolder {
public:
    PrivateFolder() {
        const char *root = std::getenv("TMPDIR");
        std::string name = std::string(root && *root ? root : "/tmp") + "/hbf-sign-XXXXXX";
        if (mkdtemp(name.data())) path_ = name;
    }
    ~PrivateFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    PrivateFolder(const PrivateFolder &) = delete;
    PrivateFolder &operator=(const PrivateFolder &) = delete;
    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

struct Ended {
    bool good = false;
    std::string output;
};

tl::expected<Ended, std::string> ssh_keygen(std::vector<std::string> arguments, const std::string &input) {
    std::filesystem::path program;
    for (const char *folder : {"/usr/bin", "/bin", "/usr/local/bin"})
        if (std::error_code ignored;
            program.empty() && std::filesystem::exists(std::filesystem::path(folder) / "ssh-keygen", ignored))
            program = std::filesystem::path(folder) / "ssh-keygen";
    if (program.empty()) return tl::unexpected(std::string("ssh-keygen is not there (Debian: openssh-client)"));
    ChildSetup setup;
    setup.program = program;
    setup.arguments = std::move(arguments);
    setup.input = input;
    setup.time = std::chrono::seconds(60);
    ChildProcess child;
    if (const auto started = child.start(setup); !started) return tl::unexpected(started.error().message);
    while (!child.ended(ChildProcess::Clock::now())) {
        std::vector<pollfd> fds;
        child.add_to(fds);
        poll(fds.data(), fds.size(), static_cast<int>(child.nap(ChildProcess::Clock::now()).count()));
        child.listen();
    }
    if (child.timed_out()) return tl::unexpected(std::string("ssh-keygen did not end in a minute"));
    return Ended{child.status() == 0, child.output()};
}

} // namespace

tl::expected<std::string, std::string> sign(const std::string &text, const std::filesystem::path &key) {
    const PrivateFolder folder;
    if (folder.path().empty()) return tl::unexpected(std::string("no folder for temporary files could be made"));
    const auto file = folder.path() / "text";
    if (const auto written = write_file(file, text); !written) return tl::unexpected(written.error());
    const auto ended = ssh_keygen({"-q", "-Y", "sign", "-f", key.string(), "-n", signature_namespace, file.string()}, "");
    if (!ended) return tl::unexpected(ended.error());
    if (!ended->good)
        return tl::unexpected(fmt::format("{} does not sign: {}", printable(key.string()), printable(ended->output)));
    const auto signature = read_file(file.string() + ".sig", 1 << 20);
    if (!signature) return tl::unexpected(signature.error().message);
    return *signature;
}

tl::expected<std::string, std::string> check_signature(const std::string &text, const std::string &signature,
                                                       const std::filesystem::path &signers) {
    const PrivateFolder folder;
    if (folder.path().empty()) return tl::unexpected(std::string("no folder for temporary files could be made"));
    const auto file = folder.path() / "text.sig";
    if (const auto written = write_file(file, signature); !written) return tl::unexpected(written.error());
    const auto run = [&](std::vector<std::string> arguments) -> tl::expected<std::string, std::string> {
        const auto ended = ssh_keygen(std::move(arguments), text);
        if (!ended) return tl::unexpected(ended.error());
        if (!ended->good) return tl::unexpected(printable(ended->output));
        return ended->output;
    };
    const std::string path = file.string();
    if (signers.empty()) return run({"-Y", "check-novalidate", "-n", signature_namespace, "-s", path});
    const auto who = run({"-Y", "find-principals", "-f", signers.string(), "-s", path});
    if (!who) return tl::unexpected(fmt::format("its key is not in {}", printable(signers.string())));
    const std::string principal = who->substr(0, who->find_first_of("\n,"));
    const auto good = run({"-Y", "verify", "-f", signers.string(), "-I", principal, "-n", signature_namespace, "-s", path});
    if (!good) return tl::unexpected(good.error());
    return principal;
}

} // namespace hbf::conformance
