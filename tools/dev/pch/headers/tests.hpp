// SPDX-License-Identifier: Apache-2.0
// The same with GoogleTest, for the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common.hpp"
