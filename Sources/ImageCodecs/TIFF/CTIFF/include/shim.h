// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CTIFF_H
#define CALOTYPE_CTIFF_H

#endif
