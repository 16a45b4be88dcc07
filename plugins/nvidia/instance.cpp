// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/instance.hpp"

#include <utility>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/kernels/loader.hpp"
#include "plugins/nvidia/memory/coherence.hpp"

namespace hbf::nvidia {

NvidiaInstance::NvidiaInstance(const Driver &cuda, const DeviceFacts &facts, const Options &options, int node,
                               uint64_t host_bytes, const sdk::Log &log)
    : log_(log), context_(cuda, facts), health_(open_health(facts.pci_address, log)) {
    auto images = std::make_unique<KernelImages>(context_, log);
    const std::string trouble = facts.host_register ? try_host_memory(context_) : "";
    if (!trouble.empty()) log.warning(fmt::format("no tier in the host's memory: it could not be tried: {}", trouble));
    std::vector<Peer> peers;
    if (options.peers == Choice::automatic && facts.virtual_memory) peers = find_peers(context_, images.get(), log);
    if (!options.storage.empty()) open_storage(options);
    tiers_ = std::make_unique<Tiers>(context_, options, peers, HostMemory{node, host_bytes, trouble}, store_.get());
    choices_.batches = options.batches == Choice::automatic;
    if (choices_.batches && !cuda.MemcpyBatchAsync)
        log.info(
            fmt::format("the driver serves CUDA {}.{}: without cuMemcpyBatchAsync (12.8) each copy of a batch is a call",
                        cuda.version / 1000, cuda.version % 1000 / 10));
    if (options.persisting_l2 != 0) set_l2_aside(options);
    stream::QueueLimits limits;
    limits.visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST | HBF_VISIBLE_THIRD_PARTY;
    set_limits(limits);
    serve_kernels(std::make_unique<stream::KernelTable>(std::move(images)));
}

// Without cuFile nothing is lost but the short way: libhbf copies between the host plugin's storage and this device through
// pinned memory, in two buffers.
void NvidiaInstance::open_storage(const Options &options) {
    std::string why;
    if (const cufile::Functions *const functions = cufile::functions(why)) {
        std::unique_ptr<FileStore> store;
        try {
            store = std::make_unique<FileStore>(*functions, options.storage, options.storage_bytes);
            store->prove(context_);
            store_ = std::move(store);
            return;
        } catch (const sdk::Failure &failure) {
            if (context_.stuck()) leave(store.release());
            if (failure.status != HBF_UNSUPPORTED) throw;
            why = failure.message;
        }
    }
    log_.warning(fmt::format("option storage_path: no tier gds0 in {}: {}; copies between storage and the device go through "
                             "pinned memory, from and to the storage of the plugin host",
                             options.storage, why));
}

NvidiaInstance::~NvidiaInstance() {
    end();
    if (choices_.persisting_l2 == 0) return;
    const Current current(context_);
    if (context_.cuda.CtxResetPersistingL2Cache) (void)context_.cuda.CtxResetPersistingL2Cache();
    (void)context_.cuda.CtxSetLimit(cuda::limit_persisting_l2, l2_before_);
}

void NvidiaInstance::describe_tier(uint32_t tier, hbf_tier_info &out) {
    tiers_->describe(tier, out);
}

// A cache, not memory: what is set aside keeps what kernels read again from being pushed out by what they read once.
void NvidiaInstance::set_l2_aside(const Options &options) {
    const DeviceFacts &facts = context_.facts;
    const auto cannot = [&](const char *why) {
        sdk::fail(HBF_UNSUPPORTED, fmt::format("option persisting_l2: {} sets no L2 aside: {}", facts.name, why));
    };
    if (facts.max_persisting_l2 == 0 || !context_.cuda.StreamSetAttribute)
        cannot("it has no persisting L2 (CU_DEVICE_ATTRIBUTE 108)");
    if (health_ && health_->mig()) cannot("it is cut into instances (MIG)");
    if (facts.mps) cannot("under MPS only the server can, by CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT");
    if (options.persisting_l2 > facts.max_persisting_l2)
        sdk::fail(HBF_INVALID, fmt::format("option persisting_l2: {} is over the device's {} bytes of {}",
                                           options.persisting_l2, facts.max_persisting_l2, facts.l2_bytes));
    const Current current(context_);
    check(context_.cuda, context_.cuda.CtxGetLimit(&l2_before_, cuda::limit_persisting_l2), "cuCtxGetLimit");
    check(context_.cuda, context_.cuda.CtxSetLimit(cuda::limit_persisting_l2, options.persisting_l2), "cuCtxSetLimit");
    choices_.persisting_l2 = options.persisting_l2;
}

std::unique_ptr<stream::StreamApi> NvidiaInstance::make_stream() {
    return std::make_unique<CudaStream>(context_, choices_, stream::QueueLimits{}.max_commands, store_.get(), log_);
}

} // namespace hbf::nvidia
