// SPDX-License-Identifier: Apache-2.0
#include "core/output/json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace hbf {

struct Json::Impl {
    nlohmann::ordered_json value;
};

Json::Json() : impl_(std::make_unique<Impl>()) {}
Json::Json(std::string_view text) : Json() {
    impl_->value = std::string(text);
}
Json::Json(double value) : Json() {
    if (std::isfinite(value)) impl_->value = value;
}
Json::Json(const Json &other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Json::Json(Json &&) noexcept = default;
Json &Json::operator=(Json other) noexcept {
    impl_ = std::move(other.impl_);
    return *this;
}
Json::~Json() = default;

Json Json::from(bool value) {
    Json out;
    out.impl_->value = value;
    return out;
}
Json Json::from(int64_t value) {
    Json out;
    out.impl_->value = value;
    return out;
}
Json Json::from(uint64_t value) {
    Json out;
    out.impl_->value = value;
    return out;
}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
    Json out;
    out.impl_->value = nlohmann::ordered_json::object();
    for (const auto &[key, value] : members) out.set(key, value);
    return out;
}

Json Json::array() {
    Json out;
    out.impl_->value = nlohmann::ordered_json::array();
    return out;
}

Json &Json::set(std::string_view key, Json value) {
    impl_->value[std::string(key)] = std::move(value.impl_->value);
    return *this;
}

Json &Json::push(Json value) {
    impl_->value.push_back(std::move(value.impl_->value));
    return *this;
}

std::string Json::dump() const {
    return impl_->value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string Json::line() const {
    return impl_->value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

tl::expected<Json, std::string> Json::parse(std::string_view text) {
    try {
        Json out;
        out.impl_->value = nlohmann::ordered_json::parse(text);
        return out;
    } catch (const nlohmann::ordered_json::exception &error) {
        return tl::unexpected(std::string(error.what()));
    }
}

std::optional<Json> Json::get(std::string_view key) const {
    if (!impl_->value.is_object()) return std::nullopt;
    auto found = impl_->value.find(std::string(key));
    if (found == impl_->value.end()) return std::nullopt;
    Json out;
    out.impl_->value = *found;
    return out;
}

std::optional<std::string> Json::text() const {
    if (!impl_->value.is_string()) return std::nullopt;
    return impl_->value.get<std::string>();
}

std::optional<double> Json::number() const {
    if (!impl_->value.is_number()) return std::nullopt;
    return impl_->value.get<double>();
}

std::optional<uint64_t> Json::whole() const {
    if (!impl_->value.is_number_unsigned()) return std::nullopt;
    return impl_->value.get<uint64_t>();
}

std::optional<std::vector<uint64_t>> Json::wholes() const {
    if (!impl_->value.is_array()) return std::nullopt;
    std::vector<uint64_t> all;
    all.reserve(impl_->value.size());
    for (const auto &one : impl_->value) {
        if (!one.is_number_unsigned()) return std::nullopt;
        all.push_back(one.get<uint64_t>());
    }
    return all;
}

std::optional<bool> Json::boolean() const {
    if (!impl_->value.is_boolean()) return std::nullopt;
    return impl_->value.get<bool>();
}

bool Json::is_array() const {
    return impl_->value.is_array();
}

bool Json::is_object() const {
    return impl_->value.is_object();
}

size_t Json::size() const {
    return impl_->value.is_structured() ? impl_->value.size() : 0;
}

std::optional<Json> Json::at(size_t index) const {
    if (!impl_->value.is_array() || index >= impl_->value.size()) return std::nullopt;
    Json out;
    out.impl_->value = impl_->value[index];
    return out;
}

std::vector<std::string> Json::keys() const {
    std::vector<std::string> out;
    if (impl_->value.is_object()) {
        for (const auto &[key, value] : impl_->value.items()) out.push_back(key);
    }
    return out;
}

} // namespace hbf
