// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CJPEGXL_H
#define CALOTYPE_CJPEGXL_H

#endif
