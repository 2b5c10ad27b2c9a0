// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CWEBP_H
#define CALOTYPE_CWEBP_H

#endif
