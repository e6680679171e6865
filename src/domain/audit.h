/* Hashes of the audit: one per execution, one per block of executions, each block linked to the one before.
 */
#ifndef DOMAIN_AUDIT_H
#define DOMAIN_AUDIT_H

#include "base/hash.h"
#include "pawl.h"

/* The fields of one execution that its hash covers. */
struct audit_run {
    int64_t id, job_id;
    pawl_str task, type, queue; /* task may be absent */
    int attempt;
    pawl_uuid instance; /* nil = nobody */
    int64_t token, started_ms, finished_ms;
    int outcome;
    pawl_str input_hash, output_hash; /* may be absent */
    pawl_str output, error, steps;    /* may be absent */
};

/*
 * SHA-256 of the fields in this order, joined by "|": id, job, task, type, queue, attempt, instance, token,
 * started, finished, outcome, input hash, output hash, and the SHA-256 in hex of output, error and steps.
 * Absent fields are empty.
 */
PAWL_MUSTCHECK pawl_status audit_run_hash(const struct audit_run *row, uint8_t hash[static SHA256_BYTES],
                                          pawl_error *err);

/* SHA-256 of the block before (32 zero bytes for the first) and the row hashes behind each other. */
PAWL_MUSTCHECK pawl_status audit_block_hash(const uint8_t previous[static SHA256_BYTES], pawl_str hashes,
                                            uint8_t hash[static SHA256_BYTES], pawl_error *err);

#endif
