// SPDX-License-Identifier: Apache-2.0
// The public handles, which keep what is behind them alive. No exception leaves them, and nothing is asked of a cache that
// another process opened.
#include "core/engine/blocks/sequence_core.hpp"

namespace hbf::kv {

Sequence::Sequence(std::unique_ptr<SequenceCore> core) : core_(std::move(core)) {}
Sequence::Sequence(Sequence &&) noexcept = default;
Sequence &Sequence::operator=(Sequence &&) noexcept = default;
Sequence::~Sequence() = default;

uint64_t Sequence::tokens() const {
    return core_->tokens();
}
uint64_t Sequence::reused() const {
    return core_->reused();
}
Result<> Sequence::append(std::span<const uint32_t> tokens) {
    return asked_of(core_->process(), [&] { return core_->append(tokens); });
}
Result<> Sequence::put(uint32_t layer, std::span<const std::byte> keys, std::span<const std::byte> values) {
    return asked_of(core_->process(), [&] { return core_->put(layer, keys, values); });
}
Result<> Sequence::read(uint32_t layer, uint64_t first, uint64_t count, std::span<std::byte> keys,
                        std::span<std::byte> values) {
    return asked_of(core_->process(), [&] { return core_->read(layer, first, count, keys, values); });
}
Result<> Sequence::attend(uint32_t layer, std::span<const float> query, std::span<float> output) {
    auto done = attend(layer, query, output, {});
    if (!done) return tl::unexpected(std::move(done.error()));
    return {};
}
Result<AttendReport> Sequence::attend(uint32_t layer, std::span<const float> query, std::span<float> output,
                                      const AttendOptions &options) {
    return asked_of(core_->process(), [&] { return core_->attend(layer, query, output, options); });
}
Result<Sequence> Sequence::fork() const {
    return asked_of(core_->process(), [&]() -> Result<Sequence> {
        auto made = core_->fork();
        if (!made) return tl::unexpected(std::move(made.error()));
        return Sequence(std::move(*made));
    });
}
Result<> Sequence::truncate(uint64_t tokens) {
    return asked_of(core_->process(), [&] { return core_->truncate(tokens); });
}
Result<uint64_t> Sequence::move_to(Tier tier) {
    return asked_of(core_->process(), [&] { return core_->move_to(tier); });
}
Result<uint64_t> Sequence::pin(std::chrono::milliseconds time) {
    return asked_of(core_->process(), [&] { return core_->pin(time); });
}
Result<> Sequence::set_query_vector(std::span<const float> query) {
    return asked_of(core_->process(), [&] { return core_->set_query_vector(query); });
}
std::vector<BlockId> Sequence::blocks(uint32_t layer, uint32_t group) const {
    return core_->blocks(layer, group);
}

KvCache::KvCache(std::shared_ptr<CacheCore> core) : core_(std::move(core)) {}

Result<KvCache> KvCache::open(const CacheOptions &options) {
    return guarded([&]() -> Result<KvCache> {
        auto core = CacheCore::make(options);
        if (!core) return tl::unexpected(std::move(core.error()));
        return KvCache(std::move(*core));
    });
}
Result<Sequence> KvCache::sequence(std::span<const uint32_t> prompt, std::string_view tenant) {
    return asked_of(core_->process(), [&]() -> Result<Sequence> {
        auto made = std::make_unique<SequenceCore>(core_, tenant);
        if (auto adopted = made->adopt(prompt); !adopted) return tl::unexpected(std::move(adopted.error()));
        return Sequence(std::move(made));
    });
}
Result<> KvCache::report_entropy(uint32_t layer, uint32_t group, double entropy) {
    return asked_of(core_->process(), [&] { return core_->report_entropy(layer, group, entropy); });
}
Result<> KvCache::set_chunk_size(uint32_t tokens) {
    return asked_of(core_->process(), [&] { return core_->set_chunk_size(tokens); });
}
uint32_t KvCache::block_tokens(uint32_t layer, uint32_t group) const {
    const Model &model = core_->model();
    if (layer >= model.layers || group >= model.head_groups || core_->process() != this_process()) return 0;
    return core_->next_capacity(layer * model.head_groups + group, false);
}
Result<> KvCache::set_budget(Tier tier, uint64_t bytes) {
    return asked_of(core_->process(), [&] { return core_->set_budget(tier, bytes); });
}
Result<uint64_t> KvCache::defragment(Tier tier, double most) {
    return asked_of(core_->process(), [&] { return core_->defragment(tier, most); });
}
Result<> KvCache::migrate(BlockId block, Tier tier) {
    return asked_of(core_->process(), [&] { return core_->migrate(block, tier, core_->deadline()); });
}
Result<> KvCache::pin(BlockId block, std::chrono::milliseconds time) {
    return asked_of(core_->process(), [&] { return core_->pin(block, time); });
}
void KvCache::unpin(BlockId block) {
    (void)asked_of(core_->process(), [&]() -> Result<> { return core_->unpin(block), Result<>(); });
}
Result<uint64_t> KvCache::save() {
    return asked_of(core_->process(), [&] { return core_->save(); });
}
std::vector<std::string> KvCache::notes() const {
    return core_->process() == this_process() ? core_->notes() : std::vector<std::string>();
}
Result<BlockInfo> KvCache::explain(BlockId block) const {
    return asked_of(core_->process(), [&] { return core_->explain(block); });
}
CacheStats KvCache::stats() const {
    return core_->process() == this_process() ? core_->stats() : CacheStats{};
}

} // namespace hbf::kv
