#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The OpenCL plugin keeps to its rules on a real runtime: one case or two of each group, those that its driver bears on.

    opencl_cases_test.py HBF_CASE PLUGIN

The whole suite takes minutes: hbf conformance --device opencl.
"""
import subprocess
import sys

CASES = [
    'abi.error.code_by_cause', 'abi.exception.does_not_cross',
    'lifecycle.probe.creates_no_context', 'lifecycle.environment.unchanged', 'lifecycle.instance.destroy_joins_threads',
    'tier.alloc.no_foreign_bytes', 'tier.alloc.exhaustion_recovers',
    'dma.copy.guard_bytes_untouched', 'dma.fill.pattern_all_widths_odd_lengths',
    'async.order.values_of_a_queue_conflict', 'async.wait.holds_across_queues', 'async.submit.allocates_nothing',
    'coherence.flush.covers_unaligned_edges', 'coherence.invalidate.covers_unaligned_edges',
    'kernels.launch.bad_refused', 'kernels.twin.same_bytes',
]


def main():
    case, plugin = sys.argv[1:]
    described = subprocess.run([case, '--describe', '--plugin', plugin], capture_output=True, text=True, check=False)
    said = described.stdout + described.stderr
    if 'driver_absent' in said or 'no_device' in said:
        print('skipped: no OpenCL device here')
        return 77
    failed = 0
    for name in CASES:
        run = subprocess.run([case, '--plugin', plugin, '--case', name], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            failed += 1
            print(f'{name} ended with {run.returncode}:\n{run.stdout}{run.stderr}')
    print(f'{len(CASES) - failed} of {len(CASES)} cases passed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
