// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/log.hpp"

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/cold/writer.hpp"
#include "core/engine/identity/identity.hpp"

namespace hbf::kv::cold {
namespace {

Result<> check(const LogOptions &options) {
    constexpr uint64_t least = 1 << 20, most = 1 << 30;
    if (!options.owner.model || !options.owner.layout)
        return fail(Code::invalid, options.folder.string() + ": a log is of a model and a layout; one of them is not given");
    const uint64_t segment = options.segment_bytes == 0 ? least : options.segment_bytes; // 0: it is not known yet
    if (segment < least || segment > most || segment % page_size != 0)
        return fail(Code::invalid, fmt::format("{}: segments of {} bytes: a multiple of {} from {} to {} is possible",
                                               options.folder.string(), segment, page_size, least, most));
    if (options.capacity / segment < 3)
        return fail(Code::invalid,
                    fmt::format("{}: a capacity of {} bytes: at least three segments of {} are needed, one that "
                                "is written, one that is read, one in reserve",
                                options.folder.string(), options.capacity, segment));
    if (options.segment_bytes != 0 && options.capacity / segment > most_segments)
        return fail(Code::invalid,
                    fmt::format("{}: a capacity of {} bytes is more than {} segments of {}; remedy: larger ones",
                                options.folder.string(), options.capacity, most_segments, segment));
    return {};
}

} // namespace

std::filesystem::path folder_of(const std::filesystem::path &root, const Owner &owner) {
    const auto brief = [](const Identity &identity) { return to_hex(identity).substr(0, 24); };
    std::string name = fmt::format("model-{}-layout-{}", brief(owner.model), brief(owner.layout));
    if (owner.tenant) name += "-tenant-" + brief(owner.tenant);
    return root / name;
}

Result<std::unique_ptr<Log>> Log::open(const LogOptions &options) {
    return guarded([&]() -> Result<std::unique_ptr<Log>> {
        if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
        auto writer = Writer::open(options);
        if (!writer) return tl::unexpected(writer.error());
        return std::unique_ptr<Log>(new Log(std::move(*writer)));
    });
}

Log::Log(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
Log::~Log() {
    (void)close();
}

Result<Ticket> Log::append(const Key &key, uint64_t generation, std::span<const std::byte> bytes,
                           std::optional<uint32_t> crc) {
    return guarded([&] { return writer_->append(key, generation, bytes, crc); });
}
Result<Ticket> Log::remove(const Key &key) {
    return guarded([&] { return writer_->remove(key); });
}
Result<> Log::commit(std::optional<Ticket> ticket) {
    return guarded([&] { return writer_->commit(ticket); });
}
Result<> Log::close() {
    return guarded([&] { return writer_->close(); });
}
Result<> Log::wipe(const Identity &tenant) {
    return guarded([&] { return writer_->wipe(tenant); });
}

std::optional<Found> Log::find(const Key &key) const {
    const auto at = writer_->store->locate(key);
    return at ? std::optional(Found{at->place.length, at->place.generation, at->place.crc}) : std::nullopt;
}

Result<std::unique_ptr<Reader>> Log::make_reader(uint32_t depth) {
    return guarded([&]() -> Result<std::unique_ptr<Reader>> { return Reader::create(writer_->store, depth); });
}

uint64_t Log::segment_bytes() const {
    return writer_->store->folder.superblock().segment_bytes;
}

LogStats Log::stats() const {
    return writer_->stats();
}

std::vector<std::string> Log::notes() const {
    return writer_->notes();
}

} // namespace hbf::kv::cold
