// SPDX-License-Identifier: Apache-2.0
#include "bench/fio.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

namespace hbf::bench {

namespace fs = std::filesystem;

Folder::Folder(const std::string &where) {
    path_ = (fs::absolute(where.empty() ? "." : where) / "hbf-bench-XXXXXX").string();
    if (!::mkdtemp(path_.data())) throw std::runtime_error(fmt::format("cannot create {}: {}", path_, std::strerror(errno)));
}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

bool have_fio() {
    return std::system("command -v fio > /dev/null 2>&1") == 0;
}

double fio(const std::string &job, bool writes) {
    const std::string command =
        fmt::format("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 fio --name=job --ioengine=io_uring --direct=1 {} "
                    "--gtod_reduce=1 --output-format=terse --terse-version=3 2>&1",
                    job);
    std::FILE *pipe = ::popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error(fmt::format("cannot run fio: {}", std::strerror(errno)));
    std::string output;
    char chunk[512];
    while (size_t got = std::fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, got);
    const int status = ::pclose(pipe);
    // "3;fio-3.33;job;0;ERROR;KIB;KIB_PER_SECOND;IOPS;..." of the reads, and 41 fields later the same of the writes
    std::vector<std::string> fields;
    std::istringstream in(output);
    for (std::string field; std::getline(in, field, ';');) fields.push_back(field);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || fields.size() < 50 || fields[4] != "0")
        throw std::runtime_error(fmt::format("fio failed: {}", output.substr(0, 300)));
    return std::stod(fields[writes ? 47 : 6]) * 1024 * 1e-9;
}

} // namespace hbf::bench
