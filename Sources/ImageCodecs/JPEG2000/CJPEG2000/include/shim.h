// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CJPEG2000_H
#define CALOTYPE_CJPEG2000_H

#endif
