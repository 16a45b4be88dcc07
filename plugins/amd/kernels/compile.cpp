// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/kernels/compile.hpp"

#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/amd/library.hpp"

namespace hbf::amd {
namespace {

constexpr size_t most_bytes = 256 << 20; // of a log or a code object: more is no size

class Made {
public:
    Made(const HipRtc &rtc, const kernels::device::Kernel &kernel) : rtc_(rtc) {
        const std::string source(kernel.source), name = std::string(kernel.function) + ".hip";
        code_ = rtc.CreateProgram(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    }
    ~Made() {
        if (program_) rtc_.DestroyProgram(&program_);
    }
    Made(const Made &) = delete;
    Made &operator=(const Made &) = delete;
    int code() const { return code_; }
    Program get() const { return program_; }

    std::string log() const {
        size_t size = 0;
        if (rtc_.GetProgramLogSize(program_, &size) != 0 || size == 0 || size > most_bytes) return {};
        std::string text(size + 1, '\0');
        if (rtc_.GetProgramLog(program_, text.data()) != 0) return {};
        text.resize(std::strlen(text.c_str()));
        return text;
    }

private:
    const HipRtc &rtc_;
    Program program_ = nullptr;
    int code_ = 0;
};

// The first line that speaks of an error, else the first.
std::string first_words(std::string_view log) {
    std::string_view first;
    while (!log.empty()) {
        const size_t end = std::min(log.find('\n'), log.size());
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(std::min(end + 1, log.size()));
        if (line.empty()) continue;
        if (line.find("error") != std::string_view::npos) return std::string(line.substr(0, 300));
        if (first.empty()) first = line;
    }
    return first.empty() ? "the compiler said nothing" : std::string(first.substr(0, 300));
}

} // namespace

std::string compile(const kernels::device::Kernel &kernel, const std::string &architecture, const sdk::Log &log) {
    std::string why;
    const HipRtc *const rtc = compiler(why);
    if (!rtc)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("kernel {}: {}; remedy: install hipRTC, or build HBF with -Dgpu_arch={}",
                                               kernel.name, why, architecture.substr(0, architecture.find(':'))));
    const auto refuse = [&](const char *call, int code, const std::string &text) {
        const char *const name = rtc->GetErrorString(code);
        const std::string what = fmt::format("{}: {} ({})", call, name ? name : "an unknown error", code);
        if (!text.empty())
            log.write(HBF_LOG_ERROR, fmt::format("kernel {}: {}; the compiler said:\n{}", kernel.name, what, text));
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("kernel {} does not build for {}: {}: {}; the log has all of it", kernel.name,
                              architecture.empty() ? "this device" : architecture, what, first_words(text)));
    };
    const Made program(*rtc, kernel);
    if (program.code() != 0) refuse("hiprtcCreateProgram", program.code(), "");
    const std::string offload = "--offload-arch=" + architecture;
    std::vector<const char *> options = {"-O3", "-std=c++17", "-ffp-contract=off"}; // as the host twin: one rounding a step
    if (!architecture.empty()) options.push_back(offload.c_str());
    const int code = rtc->CompileProgram(program.get(), static_cast<int>(options.size()), options.data());
    if (code != 0) refuse("hiprtcCompileProgram", code, program.log());
    size_t size = 0;
    if (const int failed = rtc->GetCodeSize(program.get(), &size); failed != 0 || size == 0 || size > most_bytes)
        refuse("hiprtcGetCodeSize", failed, program.log());
    std::string out(size, '\0');
    if (const int failed = rtc->GetCode(program.get(), out.data()); failed != 0) refuse("hiprtcGetCode", failed, "");
    return out;
}

} // namespace hbf::amd
