// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CRAW_H
#define CALOTYPE_CRAW_H

#endif
