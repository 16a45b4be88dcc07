// SPDX-License-Identifier: Apache-2.0
// What is checked before a cache exists.
#include <cmath>

#include <fmt/format.h>

#include "core/engine/blocks/block_size.hpp"
#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {
namespace {

Result<> check_model(const Model &model, const kernels::device::kv_shape &shape) {
    const auto wrong = [](std::string what) { return fail(Code::invalid, "model: " + what); };
    if (model.layers == 0 || model.layers > 65535)
        return wrong(fmt::format("{} layers; 1 to 65535 are possible", model.layers));
    if (static_cast<uint32_t>(model.element) > 2) return wrong("element must be fp16, bf16 or fp32");
    if (model.head_groups == 0 || model.head_groups > 65535 || model.kv_heads % model.head_groups != 0)
        return wrong(fmt::format("{} head groups do not divide {} KV heads", model.head_groups, model.kv_heads));
    if (model.kv_heads == 0 || model.query_heads % model.kv_heads != 0)
        return wrong(fmt::format("{} query heads are no multiple of {} KV heads", model.query_heads, model.kv_heads));
    if (!std::isfinite(model.scale) || model.scale < 0) return wrong("scale must be a finite number of at least 0");
    if (const char *reason = kernels::attention_refused(shape); reason != nullptr) return wrong(reason);
    if (kernels::device::kv_block_size(shape) > uint64_t{1} << 30) return wrong("a block of 256 tokens would be over 1 GiB");
    return {};
}

} // namespace

kernels::device::kv_shape CacheCore::shape(uint32_t capacity) const {
    const uint32_t groups = model_.head_groups == 0 ? 1 : model_.head_groups;
    return {model_.query_heads / groups,
            model_.kv_heads / groups,
            model_.head_dim,
            capacity,
            static_cast<uint32_t>(model_.element),
            model_.scale != 0 ? model_.scale : 1.0f / std::sqrt(static_cast<float>(model_.head_dim))};
}

CacheCore::CacheCore(const CacheOptions &options)
    : model_(options.model), settings_(options.settings), deadline_(options.deadline), dedupe_(options.dedupe),
      background_(options.background), verify_reads_(options.verify_reads), keep_at_close_(options.keep_at_close) {}

CacheCore::~CacheCore() {
    if (transfers_) transfers_->stop();
    if (transfers_ && logs_ && keep_at_close_) (void)guarded([&] { return save(); }); // who wants to know calls it
}

Result<std::shared_ptr<CacheCore>> CacheCore::make(const CacheOptions &options, const cold::Calls *calls) {
    const std::shared_ptr<CacheCore> core(new CacheCore(options), [](CacheCore *its) {
        if (its->process() == this_process()) delete its;
    });
    if (auto fine = check_settings(options.settings); !fine) return tl::unexpected(fine.error());
    if (auto fine = check_model(options.model, core->shape(largest_block)); !fine) return tl::unexpected(fine.error());
    if (options.deadline.count() <= 0) return fail(Code::invalid, "deadline: it must be longer than 0 ms");
    if (auto fine = core->check_places(options); !fine) return tl::unexpected(fine.error());
    core->identify();
    if (auto fine = core->open_logs(options, calls); !fine) return tl::unexpected(fine.error());
    if (auto fine = core->begin_heat(options); !fine) return tl::unexpected(fine.error());
    if (options.show) core->show_from_now_on(options);
    if (auto fine = core->open(); !fine) return tl::unexpected(fine.error());
    return core;
}

Result<> CacheCore::check_places(const CacheOptions &options) {
    const std::optional<Place> *const places[] = {&options.hbm, &options.hbf, &options.cold};
    if (!options.hbm) return fail(Code::invalid, "hbm: a cache needs this place at least");
    for (uint32_t i = 0; i < tier_count; ++i) {
        if (!*places[i]) continue;
        const Place &place = **places[i];
        const std::string_view name = to_string(static_cast<Tier>(i));
        if (place.tier >= place.device.tiers().size())
            return fail(Code::invalid, fmt::format("{}: device {} has no tier {}; it has {}", name, place.device.id(),
                                                   place.tier, place.device.tiers().size()));
        const uint64_t least = uint64_t{granules_of(block_bytes(settings_.kv.chunk_size))} * granule_size;
        if (place.bytes < least)
            return fail(Code::invalid, fmt::format("{}: a budget of {} bytes; one block of {} tokens takes {}", name,
                                                   place.bytes, settings_.kv.chunk_size, least));
        auto facts = place.device.refresh(place.tier);
        if (!facts) return tl::unexpected(facts.error());
        if (place.bytes > facts->capacity)
            return fail(Code::invalid,
                        fmt::format("{}: a budget of {} bytes; tier {} of {} has {}, of which {} are free", name,
                                    place.bytes, facts->name, place.device.id(), facts->capacity, facts->available));
        const auto domains = place.device.domains();
        const bool coherent = facts->domain && *facts->domain < domains.size() && domains[*facts->domain].hardware;
        pools_[i] = std::make_unique<TierPool>(static_cast<Tier>(i), place.device, *facts, coherent, place.bytes,
                                               longest_granules());
        if (cpu_ == nullptr && i < 2 && facts->cpu_access) cpu_ = pools_[i].get();
    }
    if (cpu_ == nullptr)
        return fail(Code::unsupported,
                    "neither the tier of hbm nor that of hbf can be written by the CPU, which fills blocks; "
                    "give such a tier for hbf (pinned host memory)");
    return {};
}

// Whose bytes these are.
void CacheCore::identify() {
    model_identity_ = model_.digest;
    LayoutFacts layout;
    layout.element = model_.element;
    layout.layers = model_.layers;
    layout.kv_heads = model_.kv_heads;
    layout.head_size = model_.head_dim;
    layout.arrangement = fmt::format("key tiles of 16, value panels of 16, {} groups", model_.head_groups);
    layout_identity_ = layout_identity(layout);
    for (uint32_t lane = 0; lane < lanes(); ++lane)
        roots_.push_back(Fields("lane").add(Field::extra, uint64_t{lane}).digest());
}

Result<> CacheCore::open() {
    chunk_ = settings_.kv.chunk_size;
    sizes_.resize(lanes());
    for (LaneSize &size : sizes_) size.now = block_size(chunk_, settings_.kv.chunk_align, 0, 0);
    look_for_all_sizes();
    transfers_ = std::make_unique<Transfers>([this](const Transfers::Transfer &transfer) { return moved(transfer); }, 64,
                                             [this] { // without memory: the next time
                                                 (void)guarded([&]() -> Result<> { return decide(), Result<>(); });
                                             });
    if (background_) transfers_->start();
    return {};
}

std::unique_ptr<Worker> CacheCore::borrow() {
    {
        std::lock_guard lock(workers_mutex_);
        if (!workers_.empty()) {
            auto worker = std::move(workers_.back());
            workers_.pop_back();
            return worker;
        }
        workers_.reserve(++worker_count_); // giving back never fails
    }
    return std::make_unique<Worker>(*cpu_, uint64_t{longest_granules()} * granule_size, epochs_);
}

void CacheCore::give_back(std::unique_ptr<Worker> worker) {
    worker->copier.settle();
    std::lock_guard lock(workers_mutex_);
    workers_.push_back(std::move(worker));
}

} // namespace hbf::kv
