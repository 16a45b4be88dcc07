// SPDX-License-Identifier: Apache-2.0
// fio, the reference of the storage rows, and a folder for the files.
#pragma once

#include <stdexcept>
#include <string>

#include "bench/arena.hpp"
#include "hbf/status.hpp"

namespace hbf::bench {

inline void must(Result<> result) {
    if (!result) throw std::runtime_error(result.error().message);
}

class Folder {
public:
    explicit Folder(const std::string &where);
    ~Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

bool have_fio();

// GB/s of one job over io_uring and O_DIRECT: "--rw=randread --bs=65536 --filename=...". With large pages, as our buffers
// have them: with 4 KiB pages fio is half as fast at 1 MiB, which is no measure of us.
double fio(const std::string &job, bool writes = false);

} // namespace hbf::bench
