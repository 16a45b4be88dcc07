// SPDX-License-Identifier: Apache-2.0
// What nearly every source includes, compiled once a target (-Db_pch=true): reading these headers is half of what a file
// costs. Only with the address sanitizer. g++ 12 that optimises warns of the standard library's own code when it comes from
// here. Plain builds do without: there a file that forgets an include must not compile, and the cache of one build folder
// serves the next.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
