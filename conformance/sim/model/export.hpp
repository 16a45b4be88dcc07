// SPDX-License-Identifier: Apache-2.0
// What libhbf-emulated-machine.so shows to the emulated runtimes; all else in it is hidden.
#pragma once

#define HBF_MODEL_API __attribute__((visibility("default")))
