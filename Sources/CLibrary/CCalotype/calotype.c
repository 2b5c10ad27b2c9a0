// SPDX-License-Identifier: Apache-2.0

// The functions of the header are written in Swift. This file checks the layout of its structures.
#include "calotype.h"

_Static_assert(sizeof(calotype_error) == 512, "the layout of version 1");
_Static_assert(sizeof(calotype_limits) == 40, "the layout of version 1");
_Static_assert(sizeof(calotype_decode_options) == 48, "the layout of version 1");
_Static_assert(sizeof(calotype_encode_options) == 16, "the layout of version 1");
_Static_assert(sizeof(calotype_header) == 64, "the layout of version 1");
_Static_assert(sizeof(calotype_pixels) == 40, "the layout of version 1");
_Static_assert(sizeof(calotype_plane) == 32, "the layout of version 1");
_Static_assert(sizeof(calotype_planes) == 152, "the layout of version 1");
