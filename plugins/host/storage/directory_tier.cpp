// SPDX-License-Identifier: Apache-2.0
#include "directory_tier.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "directory_file.hpp"
#include "io_error.hpp"
#include "preallocate.hpp"
#include "text.hpp"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace hbf::host {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t default_capacity_limit = 64ull << 30;

} // namespace

// Space taken for a file that is being made; given back unless the file takes it over.
class DirectoryTier::Reservation {
public:
    Reservation(DirectoryTier &tier, uint64_t bytes) : pending_(tier.pending_), bytes_(bytes) {
        std::lock_guard lock(pending_->mutex);
        const uint64_t used = tier.used();
        if (bytes > tier.capacity_ - std::min(tier.capacity_, used))
            sdk::fail(HBF_EXHAUSTED, fmt::format("storage in {}: {} bytes wanted, {} of {} in use", tier.directory_->path(),
                                                 bytes, used, tier.capacity_));
        pending_->bytes += bytes;
    }
    ~Reservation() {
        if (pending_) release(*pending_, bytes_);
    }
    std::function<void()> hand_over() {
        return [pending = std::move(pending_), bytes = bytes_] { release(*pending, bytes); };
    }

private:
    static void release(Pending &pending, uint64_t bytes) {
        std::lock_guard lock(pending.mutex);
        pending.bytes -= bytes;
    }
    std::shared_ptr<Pending> pending_;
    uint64_t bytes_;
};

DirectoryTier::DirectoryTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals)
    : ChannelTier(options, log, internals), directory_(Directory::open(options.path)) {
    if (!internals.nameless_files) directory_->nameless_files = false;
    if (options.direct) {
        Directory::Nameless trial = directory_->create(O_DIRECT);
        direct_ = trial.fd ? probe_direct(trial.fd.get()) : DirectProbe{{}, "O_DIRECT is refused by the file system"};
        directory_->discard(trial);
    } else {
        direct_.refusal = "O_DIRECT is switched off by option";
    }
    if (!direct_.refusal.empty()) log.warning("storage in " + options.path + ": page cache in use: " + direct_.refusal);

    struct stat info{};
    struct statfs system{};
    if (::fstat(directory_->fd(), &info) != 0 || ::fstatfs(directory_->fd(), &system) != 0)
        fail_errno("cannot examine", options.path, errno);
    medium_ = medium_of(info.st_dev);
    // File systems that never hold a byte without a block; others compress, or share blocks.
    blocks_told_ = system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC || system.f_type == TMPFS_MAGIC;
    block_size_ = std::max<uint64_t>(static_cast<uint64_t>(system.f_bsize), 1);
    capacity_ = options.capacity;
    if (capacity_ == 0) capacity_ = std::min(free_on_disk() / 4, default_capacity_limit) + directory_->named_bytes();
    capacity_ = capacity_ / granule() * granule();
}

int DirectoryTier::direct_flag() const {
    return direct_.refusal.empty() ? O_DIRECT : 0;
}

uint64_t DirectoryTier::granule() const {
    return std::max<uint64_t>({page, direct_.alignment.offset, direct_.alignment.memory});
}

uint64_t DirectoryTier::used() const {
    return pending_->bytes + directory_->named_bytes();
}

uint64_t DirectoryTier::free_on_disk() const {
    struct statvfs disk{};
    if (::fstatvfs(directory_->fd(), &disk) != 0) fail_errno("cannot examine", directory_->path(), errno);
    return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
}

void DirectoryTier::describe(hbf_tier_info &out) const {
    out.kind = HBF_TIER_COLD;
    out.media = HBF_MEDIA_FILE;
    out.reality = HBF_REALITY_REAL;
    out.access = HBF_ACCESS_DMA;
    out.flags = HBF_TIER_FLAG_PERSISTENT;
    if (direct_flag() == 0 || channels_.degraded()) out.flags |= HBF_TIER_FLAG_DEGRADED;
    out.numa_node = medium_.numa_node;
    out.coherence_domain = HBF_TIER_NONE;
    out.extended_by = HBF_TIER_NONE;
    out.capacity = capacity_;
    {
        std::lock_guard lock(pending_->mutex);
        out.available = std::min(capacity_ - std::min(capacity_, used()), free_on_disk());
    }
    out.granule = granule();
    out.alignment = granule();
    // Smaller pieces of a file system's block are legal for O_DIRECT, but make it serialise writers.
    out.copy_alignment =
        direct_flag() ? std::max<uint64_t>({block_size_, direct_.alignment.offset, direct_.alignment.memory}) : 1;
    put_text(out.name, "storage0");
    std::string how =
        direct_flag() ? fmt::format("O_DIRECT by {} B", direct_.alignment.offset) : "page cache in use: " + direct_.refusal;
    std::string where = medium_.source.empty() ? "" : fmt::format(" ({} on {})", medium_.file_system, medium_.source);
    put_text(out.detail, fmt::format("{}; {}; named regions are synced when freed; {}{}", channels_.detail(), how,
                                     directory_->path(), where));
}

std::shared_ptr<StorageFile> DirectoryTier::create(uint64_t size, const std::string &name, bool open_existing) {
    if (size == 0) sdk::fail(HBF_INVALID, "a storage region of zero bytes");
    if (name.empty()) {
        if (open_existing) sdk::fail(HBF_INVALID, "an existing region is opened by its name");
        return create_new(size, name);
    }
    check_region_name(name);
    std::lock_guard lock(directory_->names_mutex); // one name is made or opened at a time
    std::erase_if(directory_->names, [](const auto &entry) { return entry.second.expired(); });
    return open_existing ? open_named(size, name) : create_new(size, name);
}

std::shared_ptr<StorageFile> DirectoryTier::create_new(uint64_t size, const std::string &name) {
    std::string label = "unnamed file in " + directory_->path();
    if (!name.empty()) {
        label = directory_->path() + "/" + name;
        auto known = directory_->names.find(name); // made, but not freed yet
        if ((known != directory_->names.end() && !known->second.expired()) || directory_->has(name))
            sdk::fail(HBF_INVALID, fmt::format("{} exists already: open it as existing, or remove it", label));
    }
    if (size > capacity_)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{}: {} bytes wanted, the tier has {}", label, size, capacity_));
    const uint64_t stored = (size + granule() - 1) / granule() * granule();
    Reservation reservation(*this, stored);
    DirectoryFile::Facts facts;
    facts.directory = directory_;
    facts.file = directory_->create(direct_flag());
    facts.name = name;
    FileShape shape{facts.file.fd.get(), 0, name.empty() ? size : stored, stored, direct_.alignment, label};
    try {
        if (!facts.file.fd) sdk::fail(HBF_UNSUPPORTED, fmt::format("{}: O_DIRECT worked before and is refused now", label));
        preallocate(facts.file.fd.get(), stored, label);
        struct stat info{};
        facts.blocks_told = blocks_told_ && ::fstat(facts.file.fd.get(), &info) == 0 &&
                            static_cast<uint64_t>(info.st_blocks) * 512 >= stored;
    } catch (...) {
        directory_->discard(facts.file);
        throw;
    }
    facts.when_not_pending = reservation.hand_over();
    auto file = std::make_shared<DirectoryFile>(std::move(shape), std::move(facts));
    if (!name.empty()) directory_->names[name] = file;
    return file;
}

std::shared_ptr<StorageFile> DirectoryTier::open_named(uint64_t size, const std::string &name) {
    const std::string label = directory_->path() + "/" + name;
    std::shared_ptr<File> file;
    if (auto known = directory_->names.find(name); known != directory_->names.end()) file = known->second.lock();
    if (!file) {
        DirectoryFile::Facts facts;
        facts.directory = directory_;
        facts.file.fd = directory_->open_named(name, direct_flag());
        facts.name = name;
        facts.published = true;
        struct stat info{};
        if (!facts.file.fd) sdk::fail(HBF_UNSUPPORTED, fmt::format("{}: O_DIRECT is refused for this file", label));
        if (::fstat(facts.file.fd.get(), &info) != 0) fail_errno("cannot examine", label, errno);
        const auto stored = static_cast<uint64_t>(info.st_size);
        if (stored % granule() != 0 || stored == 0) // we make whole granules only
            sdk::fail(HBF_DATA_LOSS,
                      fmt::format("{} has {} bytes, not whole granules of {}: it was truncated, or is no region", label,
                                  stored, granule()),
                      0, stored);
        FileShape shape{facts.file.fd.get(), 0, stored, stored, direct_.alignment, label};
        file = std::make_shared<DirectoryFile>(std::move(shape), std::move(facts));
        directory_->names[name] = file;
    }
    if (file->size() < size)
        sdk::fail(HBF_DATA_LOSS, fmt::format("{} holds {} bytes, not {}", label, file->size(), size), 0, file->size());
    return file;
}

} // namespace hbf::host
