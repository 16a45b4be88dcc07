// SPDX-License-Identifier: Apache-2.0
// The same with GoogleTest, for the tests.
#include "common.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
