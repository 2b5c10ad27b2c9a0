// SPDX-License-Identifier: Apache-2.0

#include "shim.h"
#include "lazy_library.h"

#include <zstd.h>

#define FUNCTIONS(F) \
    F(ZSTD_createDCtx) F(ZSTD_DCtx_setParameter) F(ZSTD_decompressStream) F(ZSTD_freeDCtx) \
    F(ZSTD_getErrorName) F(ZSTD_isError)

CALOTYPE_LAZY_LIBRARY("libzstd.so.1", FUNCTIONS)

const char *calotype_zstandard_missing(void) { return load_lazily(); }

const char *calotype_zstandard_decompress(const uint8_t *source, size_t count, uint8_t *target,
                                          size_t capacity, int window_log, size_t *made) {
    ZSTD_DCtx *context = lazy.ZSTD_createDCtx();
    if (!context) return "out of memory";
    ZSTD_inBuffer input = {source, count, 0};
    ZSTD_outBuffer output = {target, capacity, 0};
    size_t status = lazy.ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, window_log);
    // A call returns 0 at the end of the frame, and makes no progress at the end of the input.
    while (!lazy.ZSTD_isError(status) && output.pos < output.size) {
        size_t taken = input.pos, before = output.pos;
        status = lazy.ZSTD_decompressStream(context, &output, &input);
        if (status == 0 || (input.pos == taken && output.pos == before)) break;
    }
    *made = output.pos;
    const char *problem = lazy.ZSTD_isError(status) ? lazy.ZSTD_getErrorName(status) : NULL;
    lazy.ZSTD_freeDCtx(context);
    return problem;
}
