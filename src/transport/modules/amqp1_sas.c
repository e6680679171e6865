/* Computing shared access signatures. */
#include "transport/modules/amqp1_sas.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/time/clock.h"

enum { TEXT_BYTES = 1024 };

static bool percent(const char *text, char *out, size_t size) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    size_t len = 0;
    for (; *text != '\0'; text++) {
        if (len + 4 > size)
            return false;
        if (strchr(plain, *text) != NULL)
            out[len++] = *text;
        else
            len += (size_t)snprintf(out + len, size - len, "%%%02X", (unsigned char)*text);
    }
    out[len] = '\0';
    return true;
}

bool amqp1_sas_token(const char *audience, const char *name, const char *key, int64_t valid_seconds,
                     char *token, size_t size) {
    char resource[TEXT_BYTES], text[TEXT_BYTES + 32], base64[64], signature[256], who[TEXT_BYTES];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned digest_len = 0;
    long long expiry = (long long)(clock_wall_ms() / 1000) + (long long)valid_seconds;
    if (!percent(audience, resource, sizeof(resource)) || !percent(name, who, sizeof(who)))
        return false;
    int len = snprintf(text, sizeof(text), "%s\n%lld", resource, expiry);
    if (HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)text, (size_t)len, digest,
             &digest_len) == NULL)
        return false;
    EVP_EncodeBlock((unsigned char *)base64, digest, (int)digest_len);
    if (!percent(base64, signature, sizeof(signature)))
        return false;
    int made = snprintf(token, size, "SharedAccessSignature sr=%s&sig=%s&se=%lld&skn=%s", resource, signature,
                        expiry, who);
    return made > 0 && (size_t)made < size;
}
