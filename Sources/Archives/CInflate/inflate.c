// SPDX-License-Identifier: Apache-2.0

#include "calotype_inflate.h"

#include <lazy_library.h>
#include <limits.h>
#include <zlib.h>

#define FUNCTIONS(_) _(inflateInit2_) _(inflate) _(inflateEnd)

#ifdef __APPLE__
CALOTYPE_LAZY_LIBRARY("libz.1.dylib", FUNCTIONS)
#else
CALOTYPE_LAZY_LIBRARY("libz.so.1", FUNCTIONS)
#endif

const char *calotype_inflate_missing(void) { return load_lazily(); }

static uInt at_most(size_t count) { return count < INT_MAX ? (uInt)count : INT_MAX; }

calotype_inflate_result calotype_inflate_whole(const uint8_t *from, size_t from_count, uint8_t *to,
                                               size_t to_count) {
    z_stream stream = {0};
    // Negative bits: without the header and the checksum of zlib.
    if (lazy.inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, (int)sizeof stream) != Z_OK)
        return calotype_inflate_no_memory;
    // A stream of no bytes has an end too, which is reached with room for one byte.
    uint8_t extra;
    int answer = Z_OK;
    size_t made = 0;
    while (answer == Z_OK) {
        uInt room = made < to_count ? at_most(to_count - made) : 1;
        uInt available = at_most(from_count);
        stream.next_in = (Bytef *)from;
        stream.avail_in = available;
        stream.next_out = made < to_count ? to + made : &extra;
        stream.avail_out = room;
        answer = lazy.inflate(&stream, Z_NO_FLUSH);
        from += available - stream.avail_in;
        from_count -= available - stream.avail_in;
        made += room - stream.avail_out;
        if (made > to_count) answer = Z_DATA_ERROR;
    }
    lazy.inflateEnd(&stream);
    if (answer == Z_MEM_ERROR) return calotype_inflate_no_memory;
    if (answer == Z_STREAM_END)
        return made == to_count ? calotype_inflate_complete : calotype_inflate_short;
    return answer == Z_BUF_ERROR ? calotype_inflate_short : calotype_inflate_invalid;
}
