// SPDX-License-Identifier: Apache-2.0
// Puts a function of ours in the place of one of libhbf's: the linker sends calls of SYMBOL from other objects to
// __wrap_SYMBOL, and __real_SYMBOL is the one it was (ld, --wrap). Symbols are mangled as the Itanium C++ ABI says.
#pragma once

#define HBF_IN_PLACE_OF(symbol) __asm__("__wrap_" symbol)
#define HBF_AS_IT_WAS(symbol) __asm__("__real_" symbol)
