// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC-SHA-256 of OpenSSL's libcrypto.

#ifndef CALOTYPE_MESSAGE_DIGESTS_H
#define CALOTYPE_MESSAGE_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALOTYPE_DIGEST_BYTE_COUNT 32

/// Computes the SHA-256 digest (FIPS 180-4) of bytes; returns false if OpenSSL's policy rejects it.
bool calotype_sha256(const uint8_t *bytes, size_t count, uint8_t digest[CALOTYPE_DIGEST_BYTE_COUNT]);

/// Computes the HMAC-SHA-256 (RFC 2104) of bytes with a key; returns false like calotype_sha256.
bool calotype_hmac_sha256(
    const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count,
    uint8_t code[CALOTYPE_DIGEST_BYTE_COUNT]);

/// Compares two byte sequences of the same length in constant time.
bool calotype_are_equal(const uint8_t *left, const uint8_t *right, size_t count);

/// The size of the buffer for a hash of a password.
#define CALOTYPE_PASSWORD_HASH_BYTE_COUNT 384

/// Hashes a password with the method, the salt and the parameters of `setting`, which is another hash or
/// `NULL` for yescrypt with a new salt.
///
/// Takes tens of milliseconds and some MiB, as the parameters say.
///
/// - Returns: whether the hash was written to `hash`, a string in a buffer of
///   `CALOTYPE_PASSWORD_HASH_BYTE_COUNT` bytes.
bool calotype_hash_password(const char *password, const char *setting, char *hash);

#endif
