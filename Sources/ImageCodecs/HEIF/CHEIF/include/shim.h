// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CHEIF_H
#define CALOTYPE_CHEIF_H

#endif
