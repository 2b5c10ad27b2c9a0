// SPDX-License-Identifier: Apache-2.0

#include "CMessageDigests.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

bool calotype_sha256(const uint8_t *bytes, size_t count, uint8_t digest[CALOTYPE_DIGEST_BYTE_COUNT]) {
    return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL) == 1;
}

bool calotype_hmac_sha256(
    const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count,
    uint8_t code[CALOTYPE_DIGEST_BYTE_COUNT]) {
    if (key_count > INT_MAX) return false;
    return HMAC(EVP_sha256(), key, (int)key_count, bytes, count, code, NULL) != NULL;
}

bool calotype_are_equal(const uint8_t *left, const uint8_t *right, size_t count) {
    return CRYPTO_memcmp(left, right, count) == 0;
}
