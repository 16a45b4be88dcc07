// SPDX-License-Identifier: Apache-2.0
// write_machines DIR: every machine of the tests, each in a folder of its name.
#include <cstdio>

#include "tools/doctor/testing/machines.hpp"

int main(int argc, char **argv) {
    using namespace hbf::tools::doctor;
    namespace fs = std::filesystem;
    if (argc != 2) return std::fputs("usage: write_machines DIR\n", stderr), 2;
    for (const Scene &scene : scenes()) {
        hbf::test::FakeMachine machine;
        good_machine(machine);
        scene.change(machine);
        fs::copy(machine.root(), fs::path(argv[1]) / scene.name,
                 fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    return 0;
}
