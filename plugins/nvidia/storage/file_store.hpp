// SPDX-License-Identifier: Apache-2.0
// A file without a name in a folder, which the device reads and writes by cuFile, and which regions of it are taken.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "plugins/host/storage/extents.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/nvidia/storage/cufile.hpp"

namespace hbf::nvidia {

class FileStore {
public:
    static constexpr uint64_t granule = 4096;

    // Takes all of its space on the disk at once. Throws; UNSUPPORTED where the folder's file system, or cuFile, does not do
    // it, else what is wrong with the folder.
    FileStore(const cufile::Functions &cufile, const std::string &folder, uint64_t bytes);
    ~FileStore();
    FileStore(const FileStore &) = delete;
    FileStore &operator=(const FileStore &) = delete;

    // Bytes of the device go into the file and are looked at there, and others come back, through cuFile alone. Throws
    // UNSUPPORTED where different ones arrive, or cuFile refuses.
    void prove(Context &context);

    uint64_t take(uint64_t bytes); // where they lie, whole granules; zeros. Throws EXHAUSTED
    void give_back(uint64_t at, uint64_t bytes) noexcept;
    uint64_t free_bytes();

    const cufile::Functions &cufile;
    const uint64_t capacity;
    cufile::Handle handle() const { return handle_; }
    const std::string &folder() const { return folder_; }

private:
    void zero(uint64_t at, uint64_t bytes) const;
    void move(Context &context, cufile::Move how, const char *name, uint64_t memory) const;
    void by_host(bool write, std::byte *bytes) const;

    const std::string folder_;
    int fd_ = -1;
    cufile::Handle handle_ = nullptr;
    std::mutex mutex_;
    host::Extents free_; // under mutex
};

} // namespace hbf::nvidia
