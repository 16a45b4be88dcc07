// SPDX-License-Identifier: Apache-2.0
// JSON documents, in the order they are built. nlohmann-json stays behind this header (json.cpp).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace hbf {

class Json {
public:
    Json(); // null
    Json(std::nullptr_t) : Json() {}
    Json(std::string_view text);
    Json(const char *text) : Json(std::string_view(text)) {}
    Json(const std::string &text) : Json(std::string_view(text)) {}
    Json(double value); // a value that is not finite becomes null
    template <class T>
        requires std::is_integral_v<T>
    Json(T value) : Json(from(value)) {}
    template <class T>
    Json(const std::optional<T> &value) : Json(value ? Json(*value) : Json()) {}
    Json(const Json &other);
    Json(Json &&) noexcept;
    Json &operator=(Json other) noexcept;
    ~Json();

    static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});
    static Json array();
    template <class Range>
    static Json array_of(const Range &values) {
        Json out = array();
        for (const auto &value : values) out.push(Json(value));
        return out;
    }

    Json &set(std::string_view key, Json value); // returns *this
    Json &push(Json value);
    std::string dump() const; // indented, with a final newline; broken UTF-8 is replaced
    std::string line() const; // the same on one line

    // Reading, for the few files we read. Absent or of another type: empty.
    static tl::expected<Json, std::string> parse(std::string_view text); // the error has line and column
    std::optional<Json> get(std::string_view key) const;
    std::optional<std::string> text() const;
    std::optional<double> number() const;
    std::optional<uint64_t> whole() const;               // exact; empty for negative ones and fractions
    std::optional<std::vector<uint64_t>> wholes() const; // a list of nothing else
    std::optional<bool> boolean() const;
    bool is_array() const;
    bool is_object() const;
    size_t size() const;
    std::optional<Json> at(size_t index) const;
    std::vector<std::string> keys() const;

private:
    struct Impl;
    static Json from(bool value);
    static Json from(int64_t value);
    static Json from(uint64_t value);
    template <class T>
    static Json from(T value) {
        if constexpr (std::is_signed_v<T>)
            return from(static_cast<int64_t>(value));
        else
            return from(static_cast<uint64_t>(value));
    }
    std::unique_ptr<Impl> impl_;
};

} // namespace hbf
