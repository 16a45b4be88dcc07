// SPDX-License-Identifier: Apache-2.0
#include "io_error.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace hbf::host {

hbf_status status_of_errno(int error) noexcept {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return HBF_UNAVAILABLE;
    case EACCES:
    case EPERM:
    case EROFS:
        return HBF_PERMISSION;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: // the process's file size limit
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return HBF_EXHAUSTED;
    case EFAULT: // registered memory that is not there
        return HBF_INVALID;
    case EBUSY:
    case ETXTBSY:
        return HBF_BUSY;
    case EIO:
    case ENODEV:
    case ENXIO:
    case ENOTCONN:
    case ESTALE:
    case EREMOTEIO:
    case ESHUTDOWN:
        return HBF_DEVICE_LOST;
    case ENODATA: // the block layer's word for an unreadable sector
    case EILSEQ:  // protection information does not match
    case EBADMSG: // a checksum of the file system does not match
    case EUCLEAN:
        return HBF_DATA_LOSS;
    default:
        return HBF_INTERNAL;
    }
}

std::string errno_message(std::string_view what, std::string_view path, int error) {
    return fmt::format("{} {}: {}", what, path, std::strerror(error));
}

void fail_errno(std::string_view what, std::string_view path, int error) {
    sdk::fail(status_of_errno(error), errno_message(what, path, error));
}

} // namespace hbf::host
