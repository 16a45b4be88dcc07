/* SPDX-License-Identifier: Apache-2.0 */
/* A libcnrt.so with one function of all: what CNRT 4 looks like to who wants 6, or another library of that name. */
int cnrtGetLibVersion(int *major, int *minor, int *patch);
int cnrtGetLibVersion(int *major, int *minor, int *patch) {
    *major = 4, *minor = 3, *patch = 0;
    return 0;
}
