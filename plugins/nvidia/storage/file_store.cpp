// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/storage/file_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/memory/blocks.hpp"

namespace hbf::nvidia {
namespace {

constexpr uint64_t tried = 65536, limit_ns = 8'000'000'000;

[[noreturn]] void refuse(const char *what, const std::string &folder, int error) {
    const hbf_status status = error == ENOSPC || error == EDQUOT || error == EFBIG        ? HBF_EXHAUSTED
                              : error == EACCES || error == EPERM || error == EROFS       ? HBF_PERMISSION
                              : error == EINVAL || error == EOPNOTSUPP || error == EISDIR ? HBF_UNSUPPORTED
                                                                                          : HBF_UNAVAILABLE;
    sdk::fail(status, fmt::format("{} {}: {}", what, folder, std::strerror(error)));
}

void pattern(std::byte *at, uint64_t salt) {
    for (uint64_t i = 0; i < tried / 8; ++i) {
        const uint64_t word = (i + salt) * 0x9e3779b97f4a7c15u | 1u;
        std::memcpy(at + i * 8, &word, 8);
    }
}

} // namespace

FileStore::FileStore(const cufile::Functions &functions, const std::string &folder, uint64_t bytes)
    : cufile(functions), capacity(bytes / granule * granule), folder_(folder), free_(0, capacity) {
    fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (fd_ < 0) refuse("a file without a name, for O_DIRECT, in", folder, errno);
    const auto failed = [&](const char *what, int error) {
        ::close(fd_);
        refuse(what, folder, error);
    };
    if (const int error = ::posix_fallocate(fd_, 0, static_cast<off_t>(capacity)); error != 0)
        failed("space for the storage tier in", error);
    cufile::Descriptor what;
    what.file.fd = fd_;
    if (const cufile::Error error = cufile.HandleRegister(&handle_, &what); error.code != 0) {
        ::close(fd_);
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("cuFileHandleRegister of a file in {} gives {} (CUDA {})", folder, error.code, error.cuda));
    }
}

FileStore::~FileStore() {
    cufile.HandleDeregister(handle_);
    ::close(fd_);
}

void FileStore::by_host(bool write, std::byte *bytes) const {
    const ssize_t moved = write ? ::pwrite(fd_, bytes, tried, 0) : ::pread(fd_, bytes, tried, 0);
    if (moved != static_cast<ssize_t>(tried)) refuse("reading or writing a file in", folder_, moved < 0 ? errno : EIO);
}

void FileStore::move(Context &context, cufile::Move how, const char *name, uint64_t memory) const {
    const Current current(context);
    const Driver &cuda = context.cuda;
    check(cuda, current.code(), "cuCtxPushCurrent");
    struct Operation { // cuFile looks at it later
        size_t size = tried;
        off_t in_file = 0, in_memory = 0;
        ssize_t done = 0;
    };
    auto operation = std::make_unique<Operation>();
    cuda::Stream stream = nullptr;
    check(cuda, cuda.StreamCreate(&stream, cuda::stream_non_blocking), "cuStreamCreate");
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of the device are numbers
    const cufile::Error error = how(handle_, reinterpret_cast<void *>(memory), &operation->size, &operation->in_file,
                                    &operation->in_memory, &operation->done, stream);
    cuda::Result code = cuda::success;
    if (error.code == 0 && !wait_for(cuda, stream, limit_ns, code)) {
        context.give_up();
        leave(operation.release());
        sdk::fail(HBF_DEVICE_LOST, fmt::format("{} did not end in 8 s", name));
    }
    (void)cuda.StreamDestroy(stream);
    if (error.code != 0) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} gives {} (CUDA {})", name, error.code, error.cuda));
    check(cuda, code, name);
    if (operation->done != static_cast<ssize_t>(tried))
        sdk::fail(HBF_UNSUPPORTED, fmt::format("{} of {} bytes ended with {}", name, tried, operation->done));
}

void FileStore::prove(Context &context) {
    struct Room {
        explicit Room(const Context &of) : device(of, tried, granule), bytes(of, 2 * tried, granule, -1) {}
        PlainBlock device;
        PinnedBlock bytes; // what goes, and what comes
    };
    auto room = std::make_unique<Room>(context);
    std::byte *const sent = room->bytes.host(), *const seen = sent + tried;
    const auto compare = [&](const char *what) {
        const auto [a, b] = std::mismatch(sent, sent + tried, seen);
        if (a != sent + tried)
            sdk::fail(HBF_UNSUPPORTED, fmt::format("{}: byte {} of {} is {:#04x} and not {:#04x}", what, a - sent, tried,
                                                   std::to_integer<unsigned>(*b), std::to_integer<unsigned>(*a)));
    };
    const auto copy = [&](uint64_t dst, uint64_t src) {
        if (!context.copy(dst, src, tried, limit_ns)) sdk::fail(HBF_DEVICE_LOST, "a copy did not end in 8 s");
    };
    try {
        pattern(sent, 1);
        copy(room->device.at(), room->bytes.at());
        move(context, cufile.WriteAsync, "cuFileWriteAsync", room->device.at());
        by_host(false, seen);
        compare("what cuFile wrote into the file");
        pattern(sent, 2);
        by_host(true, sent);
        move(context, cufile.ReadAsync, "cuFileReadAsync", room->device.at());
        copy(room->bytes.at() + tried, room->device.at());
        compare("what cuFile read from the file");
    } catch (...) {
        if (context.stuck()) leave(room.release());
        throw;
    }
}

uint64_t FileStore::take(uint64_t bytes) {
    std::optional<uint64_t> at;
    {
        const std::lock_guard lock(mutex_);
        at = free_.take(bytes);
        if (!at)
            sdk::fail(HBF_EXHAUSTED, fmt::format("{} bytes in one piece wanted, of {} that are free the largest has {}",
                                                 bytes, free_.free_bytes(), free_.largest_gap()));
    }
    try {
        zero(*at, bytes); // no owner before sees its bytes here
    } catch (...) {
        give_back(*at, bytes);
        throw;
    }
    return *at;
}

void FileStore::give_back(uint64_t at, uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    free_.give(at, bytes);
}

uint64_t FileStore::free_bytes() {
    const std::lock_guard lock(mutex_);
    return free_.free_bytes();
}

void FileStore::zero(uint64_t at, uint64_t bytes) const {
    if (::fallocate(fd_, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at), static_cast<off_t>(bytes)) == 0)
        return;
    constexpr uint64_t piece = 1 << 20;
    const std::unique_ptr<void, decltype(&std::free)> zeros(std::aligned_alloc(granule, piece), &std::free);
    if (!zeros) throw std::bad_alloc();
    std::memset(zeros.get(), 0, piece);
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t moved = ::pwrite(fd_, zeros.get(), std::min(piece, bytes - done), static_cast<off_t>(at + done));
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) refuse("zeros for a new region in", folder_, moved < 0 ? errno : ENOSPC);
        done += static_cast<uint64_t>(moved);
    }
}

} // namespace hbf::nvidia
