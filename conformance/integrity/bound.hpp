// SPDX-License-Identifier: Apache-2.0
// What a count of errors proves: exact upper bounds for independent events (Poisson), and how much has to be compared to
// prove a rate.
#pragma once

#include <cstdint>
#include <string>

namespace hbf::integrity {

// The highest mean that still yields `errors` events or fewer with probability 1 - confidence. 0 errors: -ln(1 -
// confidence), 3.00 at 95 %, 6.91 at 99.9 %. confidence in (0, 1).
double poisson_upper(uint64_t errors, double confidence);

// Bits to compare without an error to prove a rate below `rate` per bit. rate > 0.
double bits_needed(double confidence, double rate);

// "0 errors in 1.2e+13 bits: rate < 2.5e-13 per bit at 95 %, < 5.8e-13 at 99.9 %"; with `confidence` that one only.
std::string bound_text(uint64_t errors, double bits);
std::string bound_text(uint64_t errors, double bits, double confidence);

std::string percent_text(double confidence); // "99.9 %"

} // namespace hbf::integrity
