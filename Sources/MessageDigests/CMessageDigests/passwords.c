// SPDX-License-Identifier: Apache-2.0

#define _DEFAULT_SOURCE
#include "CMessageDigests.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

bool calotype_hash_password(const char *password, const char *setting, char *hash)
{
    char own[CRYPT_GENSALT_OUTPUT_SIZE];
    if (setting == NULL) {
        // The default cost, and random bytes of the system.
        if (crypt_gensalt_rn("$y$", 0, NULL, 0, own, sizeof own) == NULL) return false;
        setting = own;
    }
    struct crypt_data *data = calloc(1, sizeof *data);
    if (data == NULL) return false;
    const char *result = crypt_rn(password, setting, data, sizeof *data);
    bool isHash = result != NULL && result[0] != '*'
        && strlen(result) < CALOTYPE_PASSWORD_HASH_BYTE_COUNT;
    if (isHash) strcpy(hash, result);
    // The structure contains the password.
    explicit_bzero(data, sizeof *data);
    free(data);
    return isHash;
}
