// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CAVIF_H
#define CALOTYPE_CAVIF_H

#endif
