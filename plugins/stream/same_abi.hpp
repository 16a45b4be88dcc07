// SPDX-License-Identifier: Apache-2.0
// Whether a call through one declaration of a function does what a call through another would: for comparing our own
// declarations with a vendor's header, where there is one. Types differ in name (an enumeration and an int, uint64_t and
// unsigned long long, two pointers); what counts is how they are passed.
#pragma once

#include <type_traits>

namespace hbf::stream {

template <class A, class B>
constexpr bool same_abi_value() {
    if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
        return std::is_void_v<A> && std::is_void_v<B>;
    } else if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
        return std::is_pointer_v<A> && std::is_pointer_v<B>;
    } else {
        constexpr bool whole_a = std::is_integral_v<A> || std::is_enum_v<A>,
                       whole_b = std::is_integral_v<B> || std::is_enum_v<B>;
        return whole_a == whole_b && std::is_floating_point_v<A> == std::is_floating_point_v<B> && sizeof(A) == sizeof(B) &&
               (whole_a || std::is_floating_point_v<A> || alignof(A) == alignof(B));
    }
}

template <class A, class B>
struct SameAbi : std::false_type {};
template <class A, class... As, class B, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
struct SameAbi<A(As...), B(Bs...)> : std::bool_constant<same_abi_value<A, B>() && (same_abi_value<As, Bs>() && ...)> {};
template <class A, class... As, class B, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
struct SameAbi<A(As...), B(Bs...) noexcept> : SameAbi<A(As...), B(Bs...)> {};

template <class A, class B>
inline constexpr bool same_abi = SameAbi<A, B>::value;

static_assert(same_abi<int(int *, unsigned long), int(void *, unsigned long long)>);
static_assert(!same_abi<int(int *, int), int(void *, unsigned long)>, "a width");
static_assert(!same_abi<int(int), int(float)>, "a kind");
static_assert(!same_abi<int(int), int(int, int)> && !same_abi<int(long), int(long *)> && !same_abi<void(), int()>);

} // namespace hbf::stream
