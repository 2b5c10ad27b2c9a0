// SPDX-License-Identifier: Apache-2.0

#include "shim.h"

#include <limits.h>
#include <stdlib.h>

static size_t at_most(size_t count) { return count < INT_MAX ? count : INT_MAX; }

#ifdef CALOTYPE_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#if defined(__x86_64__)

__attribute__((target("avx"))) static void clear_upper_halves(void) {
    __asm__ volatile("vzeroupper");
}

/// Clears the upper halves of the vector registers, which ISA-L 2.30 leaves set. Until they are
/// cleared, processors execute SSE instructions, of which the Swift code consists, at half speed.
static void leave_avx(void) {
    if (__builtin_cpu_supports("avx")) clear_upper_halves();
}

#else

static void leave_avx(void) {}

#endif

struct calotype_inflate {
    struct inflate_state state;
    /// Whether the two-byte zlib header is still to be read. ISA-L reads it only in the mode that
    /// also verifies the Adler-32.
    bool needs_header;
};

calotype_inflate *calotype_inflate_create(bool verifies_checksum) {
    calotype_inflate *stream = malloc(sizeof *stream);
    if (!stream) return NULL;
    isal_inflate_init(&stream->state);
    stream->state.crc_flag = verifies_checksum ? ISAL_ZLIB : ISAL_DEFLATE;
    stream->needs_header = !verifies_checksum;
    return stream;
}

void calotype_inflate_destroy(calotype_inflate *stream) { free(stream); }

calotype_inflate_status calotype_inflate_run(calotype_inflate *stream, const uint8_t *from,
                                             size_t from_count, size_t *taken, uint8_t *to,
                                             size_t to_count, size_t *made) {
    struct inflate_state *state = &stream->state;
    state->next_in = (uint8_t *)from;
    state->avail_in = (uint32_t)at_most(from_count);
    state->next_out = to;
    state->avail_out = (uint32_t)at_most(to_count);
    int answer = ISAL_DECOMP_OK;
    if (stream->needs_header) {
        struct isal_zlib_header header = {0};
        answer = isal_read_zlib_header(state, &header);
        if (answer == ISAL_DECOMP_OK && header.dict_flag) return calotype_inflate_malformed;
        stream->needs_header = answer == ISAL_END_INPUT;
    }
    if (!stream->needs_header && answer == ISAL_DECOMP_OK) answer = isal_inflate(state);
    leave_avx();
    *taken = (size_t)(state->next_in - from);
    *made = (size_t)(state->next_out - to);
    if (answer < 0) return calotype_inflate_malformed;
    return state->block_state == ISAL_BLOCK_FINISH ? calotype_inflate_ended : calotype_inflate_ok;
}

uint32_t calotype_png_checksum(uint32_t before, const uint8_t *bytes, size_t count) {
    uint32_t checksum = crc32_gzip_refl(before, bytes, count);
    leave_avx();
    return checksum;
}

#else

#include <zlib.h>

struct calotype_inflate {
    z_stream stream;
};

calotype_inflate *calotype_inflate_create(bool verifies_checksum) {
    calotype_inflate *stream = calloc(1, sizeof *stream);
    if (stream && inflateInit(&stream->stream) == Z_OK &&
        inflateValidate(&stream->stream, verifies_checksum) == Z_OK)
        return stream;
    free(stream);
    return NULL;
}

void calotype_inflate_destroy(calotype_inflate *stream) {
    inflateEnd(&stream->stream);
    free(stream);
}

calotype_inflate_status calotype_inflate_run(calotype_inflate *stream, const uint8_t *from,
                                             size_t from_count, size_t *taken, uint8_t *to,
                                             size_t to_count, size_t *made) {
    z_stream *state = &stream->stream;
    state->next_in = (Bytef *)from;
    state->avail_in = (uInt)at_most(from_count);
    state->next_out = to;
    state->avail_out = (uInt)at_most(to_count);
    int answer = inflate(state, Z_NO_FLUSH);
    *taken = (size_t)(state->next_in - from);
    *made = (size_t)(state->next_out - to);
    if (answer == Z_STREAM_END) return calotype_inflate_ended;
    return answer == Z_OK || answer == Z_BUF_ERROR ? calotype_inflate_ok
                                                   : calotype_inflate_malformed;
}

uint32_t calotype_png_checksum(uint32_t before, const uint8_t *bytes, size_t count) {
    return (uint32_t)crc32_z(before, bytes, count);
}

#endif
