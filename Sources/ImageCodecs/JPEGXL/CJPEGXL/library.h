// SPDX-License-Identifier: Apache-2.0
//
// The name of the library version that the headers describe.

#include <jxl/version.h>

#define JXL_STRING(number) #number
#define JXL_LIBRARY_OF(major, minor) "libjxl.so." JXL_STRING(major) "." JXL_STRING(minor)
#define JXL_LIBRARY JXL_LIBRARY_OF(JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION)
