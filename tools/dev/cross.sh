# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# aarch64 builds on an x86-64 machine, run by qemu-user.
