// SPDX-License-Identifier: Apache-2.0
#include "block_tier.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "block_label.hpp"
#include "io_error.hpp"
#include "medium.hpp"
#include "text.hpp"

namespace hbf::host {
namespace {

constexpr uint64_t page = 4096;

// O_EXCL: the kernel lets one such opener in, and none while the device is mounted, swapped on or part of another.
Fd open_exclusive(const std::string &path, int flags, dev_t number) {
    Fd fd(::open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC | flags));
    if (fd || (errno == EINVAL && (flags & O_DIRECT))) return fd;
    if (errno == EBUSY) {
        const std::string where = mount_point_of(number);
        sdk::fail(HBF_BUSY, where.empty() ? path + " is in use: by another process, as swap, or by a volume on it"
                                          : fmt::format("{} is mounted on {}", path, where));
    }
    fail_errno("cannot open", path, errno);
}

// What an earlier owner left in the range must not be seen through the new region.
void clear(int fd, uint64_t begin, uint64_t size, const std::string &label) {
    uint64_t range[2] = {begin, size};
    if (::ioctl(fd, BLKZEROOUT, range) != 0) fail_errno("cannot clear", label, errno);
}

} // namespace

class BlockTier::BlockFile final : public File {
public:
    BlockFile(FileShape shape, std::shared_ptr<Device> device) : File(std::move(shape)), device_(std::move(device)) {}
    ~BlockFile() override {
        std::lock_guard lock(device_->mutex);
        device_->extents.give(shape().base, shape().stored);
    }
    void publish() override {}

private:
    std::shared_ptr<Device> device_;
};

BlockTier::BlockTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals)
    : ChannelTier(options, log, internals) {
    struct stat info{};
    device_->path = options.path;
    if (::stat(options.path.c_str(), &info) != 0) fail_errno("cannot examine", options.path, errno);
    device_->fd = open_exclusive(options.path, options.direct ? O_DIRECT : 0, info.st_rdev);
    refusal_ = options.direct ? "" : "O_DIRECT is switched off by option";
    if (!device_->fd) {
        refusal_ = "O_DIRECT is refused by the device";
        device_->fd = open_exclusive(options.path, 0, info.st_rdev);
    }
    const int fd = device_->fd.get();
    int logical = 0;
    uint64_t size = 0;
    if (::ioctl(fd, BLKSSZGET, &logical) != 0 || ::ioctl(fd, BLKGETSIZE64, &size) != 0)
        fail_errno("cannot learn the size of", options.path, errno);
    if (refusal_.empty()) device_->alignment = {static_cast<uint32_t>(logical), static_cast<uint32_t>(logical)};
    if (size < 4 * block_reserved) sdk::fail(HBF_INVALID, fmt::format("{} is too small: {} bytes", options.path, size));
    if (!options.overwrite)
        if (std::string content = foreign_content(fd, size, options.path); !content.empty())
            sdk::fail(HBF_PERMISSION,
                      fmt::format("{} holds {}; if it may be lost, set storage_overwrite=yes", options.path, content));
    write_label(fd, options.path);
    if (!refusal_.empty()) log.warning("storage on " + options.path + ": page cache in use: " + refusal_);
    capacity_ = (size - block_reserved) / page * page;
    if (options.capacity) capacity_ = std::min(capacity_, options.capacity / page * page);
    device_->extents = Extents(block_reserved, capacity_);
    numa_node_ = numa_node_of_block(info.st_rdev);
}

void BlockTier::describe(hbf_tier_info &out) const {
    out.kind = HBF_TIER_COLD;
    out.media = HBF_MEDIA_BLOCK;
    out.reality = HBF_REALITY_REAL;
    out.access = HBF_ACCESS_DMA;
    out.flags = !refusal_.empty() || channels_.degraded() ? HBF_TIER_FLAG_DEGRADED : 0;
    out.numa_node = numa_node_;
    out.coherence_domain = HBF_TIER_NONE;
    out.extended_by = HBF_TIER_NONE;
    out.capacity = capacity_;
    {
        std::lock_guard lock(device_->mutex);
        out.available = device_->extents.free_bytes();
    }
    out.granule = page;
    out.alignment = page;
    out.copy_alignment = refusal_.empty() ? std::max<uint64_t>(device_->alignment.offset, page) : 1;
    put_text(out.name, "storage0");
    put_text(out.detail, fmt::format("{}; {}; block device {}", channels_.detail(),
                                     refusal_.empty() ? fmt::format("O_DIRECT by {} B", device_->alignment.offset)
                                                      : "page cache in use: " + refusal_,
                                     device_->path));
}

std::shared_ptr<StorageFile> BlockTier::create(uint64_t size, const std::string &name, bool) {
    if (size == 0) sdk::fail(HBF_INVALID, "a storage region of zero bytes");
    if (!name.empty())
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("region \"{}\": a block device has no names; use a directory for those", name));
    if (size > capacity_)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes wanted, the tier has {}", device_->path, size, capacity_));
    const uint64_t stored = (size + page - 1) / page * page;
    std::optional<uint64_t> begin;
    {
        std::lock_guard lock(device_->mutex);
        begin = device_->extents.take(stored);
        if (!begin)
            sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes wanted, {} free, the largest gap has {}", device_->path,
                                                 stored, device_->extents.free_bytes(), device_->extents.largest_gap()));
    }
    std::shared_ptr<BlockFile> file;
    try {
        const std::string label = fmt::format("{} from byte {}", device_->path, *begin);
        FileShape shape{device_->fd.get(), *begin, size, stored, device_->alignment, label};
        file = std::make_shared<BlockFile>(std::move(shape), device_);
    } catch (...) {
        std::lock_guard lock(device_->mutex);
        device_->extents.give(*begin, stored);
        throw;
    }
    clear(device_->fd.get(), *begin, stored, file->shape().label); // should it fail, the file gives the range back
    return file;
}

} // namespace hbf::host
