// SPDX-License-Identifier: Apache-2.0

#ifndef CALOTYPE_CSVG_H
#define CALOTYPE_CSVG_H

#endif
