// SPDX-License-Identifier: Apache-2.0
#include "core/output/ocp.hpp"

namespace hbf {

OcpLines::OcpLines(std::string time) : time_(std::move(time)) {
    artifact("schemaVersion", Json::object({{"major", 2}, {"minor", 0}}));
}

void OcpLines::artifact(const char *kind, Json body) {
    out_ += Json::object({{kind, std::move(body)}}).set("sequenceNumber", next_++).set("timestamp", time_).line();
}

void OcpLines::run(const char *kind, Json body) {
    artifact("testRunArtifact", Json::object({{kind, std::move(body)}}));
}

void OcpLines::step(size_t id, const char *kind, Json body) {
    artifact("testStepArtifact", Json::object({{kind, std::move(body)}, {"testStepId", std::to_string(id)}}));
}

Json ocp_validator(std::string_view type, std::string_view name, Json value) {
    return Json::object({{"name", name}, {"type", type}, {"value", std::move(value)}});
}

} // namespace hbf
