// SPDX-License-Identifier: Apache-2.0
// HBF_API marks what libhbf.so exports; all else is hidden.
#pragma once

#define HBF_API __attribute__((visibility("default")))
