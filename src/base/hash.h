/* Hashes that are part of the protocol: other programs and SQL compute the same numbers. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "pawl.h"

/*
 * The 64-bit hash of a stream's name: equal to PostgreSQL's hashtextextended(text, 0), read as unsigned. Test
 * vectors are in docs/hash-vectors.txt. An absent stream hashes like the empty one.
 */
uint64_t hash_stream(pawl_str stream);

/* hash_stream(stream) mod partition_count, unsigned; partition_count is at least 1. */
uint32_t partition_of(pawl_str stream, uint32_t partition_count);

/* partition mod lane_count; lane_count is at least 1. */
uint32_t lane_of(uint32_t partition, uint32_t lane_count);

enum { SHA256_BYTES = 32, SHA256_TEXT_BYTES = 65 };

PAWL_MUSTCHECK pawl_status sha256(pawl_str text, uint8_t digest[static SHA256_BYTES], pawl_error *err);
PAWL_MUSTCHECK pawl_status sha256_hex(pawl_str text, char digest[static SHA256_TEXT_BYTES], pawl_error *err);

void sha256_text(const uint8_t digest[static SHA256_BYTES], char text[static SHA256_TEXT_BYTES]);

/* The first 8 bytes of the SHA-256, big-endian, as a signed number that SQL can store. */
PAWL_MUSTCHECK pawl_status hash_payload(pawl_str payload, int64_t *hash, pawl_error *err);

/* FNV-1a, for tables in memory only: not part of the protocol. */
uint64_t fnv1a64(pawl_str text);

#endif
