// SPDX-License-Identifier: Apache-2.0
// Every call that may take memory, each undone by itself: what the cases about running out of it go through.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/suite/device.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

struct Operation {
    std::string name;
    // Makes the call, and nothing else that allocates. The message stays in the buffer it was given.
    std::function<hbf_status(hbf_error *error)> call;
    // Takes back what a successful call made. "" if what it made is usable, else what is wrong.
    std::function<std::string()> undo;
};

// An instance without the host's log, which allocates too.
std::unique_ptr<Instance> create_without_log(Subject &subject);

// `device` and `queue` live on; `subject` too.
std::vector<Operation> operations(Subject &subject, Instance &device, hbf_queue *queue);

} // namespace hbf::conformance
