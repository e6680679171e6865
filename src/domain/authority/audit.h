/* Hashes of the audit: one per execution, one per block of executions, each block linked to the previous one,
 * and one per anchor, which covers the heads of the chains and can be kept outside the database. */
#ifndef DOMAIN_AUTHORITY_AUDIT_H
#define DOMAIN_AUTHORITY_AUDIT_H

#include "base/buf.h"
#include "base/hash.h"
#include "pawl.h"

/* The fields of one execution that its hash covers. */
struct audit_run {
    int64_t id, job_id;
    pawl_str task, type, queue; /* task may be absent */
    int attempt;
    pawl_uuid instance; /* nil = none */
    int64_t token, started_ms, finished_ms;
    int outcome;
    pawl_str input_hash, output_hash; /* may be absent */
    pawl_str output, error, steps;    /* may be absent */
    int64_t expires_ms;               /* retention may remove it after that; nothing may before */
};

/*
 * SHA-256 of the fields in this order, joined by "|": id, job, task, type, queue, attempt, instance, token,
 * started, finished, outcome, input hash, output hash, the SHA-256 in hex of output, error and steps, and
 * expires. Absent fields are empty.
 */
PAWL_MUSTCHECK pawl_status audit_run_hash(const struct audit_run *row, uint8_t hash[static SHA256_BYTES],
                                          pawl_error *err);

/* What a block keeps of each row, so that expired rows can be told from rows that were removed too early: its
 * hash and its expires_ms (8 bytes, big-endian). */
enum { AUDIT_ENTRY_BYTES = SHA256_BYTES + 8 };
void audit_entry_append(struct buf *entries, const uint8_t hash[static SHA256_BYTES], int64_t expires_ms);
int64_t audit_entry_expires_ms(pawl_str entries, size_t place);
/* The hash of a place; NULL when the block has no such place. */
const char *audit_entry_hash(pawl_str entries, int64_t place);

struct audit_block {
    pawl_uuid chain;
    int64_t number, id, made_ms;
    pawl_str entries; /* AUDIT_ENTRY_BYTES per row */
};

/* SHA-256 of the hash of the block before (32 zero bytes for the first), chain, number, id, made_ms (numbers
 * of 8 bytes, big-endian) and the entries one after the other. */
PAWL_MUSTCHECK pawl_status audit_block_hash(const uint8_t previous[static SHA256_BYTES],
                                            const struct audit_block *block,
                                            uint8_t hash[static SHA256_BYTES], pawl_error *err);

/* A head of a chain as an anchor names it: chain, number, hash. */
void audit_head_append(struct buf *heads, pawl_uuid chain, int64_t number,
                       const uint8_t hash[static SHA256_BYTES]);

/* SHA-256 of the hash of the anchor before (32 zero bytes for the first), number, made_ms and the heads, by
 * chain. */
PAWL_MUSTCHECK pawl_status audit_anchor_hash(const uint8_t previous[static SHA256_BYTES], int64_t number,
                                             int64_t made_ms, pawl_str heads,
                                             uint8_t hash[static SHA256_BYTES], pawl_error *err);

#endif
