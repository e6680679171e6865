/* Hashes that are part of the protocol. */
#include "base/hash.h"

#include <assert.h>
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

/*
 * hash_stream is Bob Jenkins' lookup3 (2006, public domain) in the variant that PostgreSQL calls
 * hash_bytes_extended with seed 0: the initial value differs from Jenkins', and the last block is read as
 * bytes with the low byte of c left out. Bytes are assembled by hand, so that the result is the same on every
 * machine.
 */
struct jenkins {
    uint32_t a;
    uint32_t b;
    uint32_t c;
};

static uint32_t rotate(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

static void jenkins_mix(struct jenkins *s) {
    static const int bits[2][3] = {{4, 6, 8}, {16, 19, 4}};
    for (int round = 0; round < 2; round++) {
        s->a -= s->c;
        s->a ^= rotate(s->c, bits[round][0]);
        s->c += s->b;
        s->b -= s->a;
        s->b ^= rotate(s->a, bits[round][1]);
        s->a += s->c;
        s->c -= s->b;
        s->c ^= rotate(s->b, bits[round][2]);
        s->b += s->a;
    }
}

static void jenkins_final(struct jenkins *s) {
    s->c ^= s->b;
    s->c -= rotate(s->b, 14);
    s->a ^= s->c;
    s->a -= rotate(s->c, 11);
    s->b ^= s->a;
    s->b -= rotate(s->a, 25);
    s->c ^= s->b;
    s->c -= rotate(s->b, 16);
    s->a ^= s->c;
    s->a -= rotate(s->c, 4);
    s->b ^= s->a;
    s->b -= rotate(s->a, 14);
    s->c ^= s->b;
    s->c -= rotate(s->b, 24);
}

/* Up to four bytes, the first one lowest. */
static uint32_t little_endian(const unsigned char *bytes, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static size_t at_most(size_t value, size_t limit) { return value < limit ? value : limit; }

uint64_t hash_stream(pawl_str stream) {
    const unsigned char *rest = (const unsigned char *)stream.ptr;
    size_t left = stream.len;
    uint32_t start = UINT32_C(0x9e3779b9) + (uint32_t)stream.len + UINT32_C(3923095);
    struct jenkins s = {start, start, start};
    while (left >= 12) {
        s.a += little_endian(rest, 4);
        s.b += little_endian(rest + 4, 4);
        s.c += little_endian(rest + 8, 4);
        jenkins_mix(&s);
        rest += 12;
        left -= 12;
    }
    if (left > 0)
        s.a += little_endian(rest, at_most(left, 4));
    if (left > 4)
        s.b += little_endian(rest + 4, at_most(left - 4, 4));
    if (left > 8)
        s.c += little_endian(rest + 8, left - 8) << 8; /* the low byte is the length's */
    jenkins_final(&s);
    return (uint64_t)s.b << 32 | s.c;
}

uint32_t partition_of(pawl_str stream, uint32_t partition_count) {
    assert(partition_count > 0);
    return (uint32_t)(hash_stream(stream) % partition_count);
}

uint32_t lane_of(uint32_t partition, uint32_t lane_count) {
    assert(lane_count > 0);
    return partition % lane_count;
}

/* The functions that need no memory: while libcrypto prepares the newer ones, it crashes when there is none.
 */
pawl_status sha256(pawl_str text, uint8_t digest[static SHA256_BYTES], pawl_error *err) {
    SHA256_CTX sum;
    if (SHA256_Init(&sum) != 1 || SHA256_Update(&sum, text.ptr != NULL ? text.ptr : "", text.len) != 1 ||
        SHA256_Final(digest, &sum) != 1)
        return error_set(err, PAWL_INTERNAL, "sha256", "the cryptographic library cannot compute SHA-256");
    return PAWL_OK;
}

void sha256_text(const uint8_t digest[static SHA256_BYTES], char text[static SHA256_TEXT_BYTES]) {
    hex_format(digest, SHA256_BYTES, text);
}

pawl_status sha256_hex(pawl_str text, char digest[static SHA256_TEXT_BYTES], pawl_error *err) {
    uint8_t bytes[SHA256_BYTES] = {0};
    pawl_status status = sha256(text, bytes, err);
    if (status == PAWL_OK)
        sha256_text(bytes, digest);
    return status;
}

pawl_status hash_payload(pawl_str payload, int64_t *hash, pawl_error *err) {
    uint8_t digest[SHA256_BYTES] = {0};
    pawl_status status = sha256(payload, digest, err);
    if (status != PAWL_OK)
        return status;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | digest[i];
    *hash = (int64_t)value;
    return PAWL_OK;
}

uint64_t fnv1a64(pawl_str text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++) {
        hash ^= (unsigned char)text.ptr[i];
        hash *= UINT64_C(0x100000001b3);
    }
    return hash;
}
