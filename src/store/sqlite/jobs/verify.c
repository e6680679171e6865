/* Verifying the audit on SQLite: detecting changed and removed rows. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/authority/audit.h"
#include "store/sqlite/jobs/jobs.h"

struct verify {
    struct operation *op;
    struct arena *arena;
    struct audit_report report;
};

static bool hash_is(pawl_str stored, const uint8_t hash[static SHA256_BYTES]) {
    return stored.len == SHA256_BYTES && memcmp(stored.ptr, hash, SHA256_BYTES) == 0;
}

/* The first fault is the one that is reported. */
static bool sound(const struct verify *v) { return str_absent(v->report.fault); }

#define FAULT(v, ...)                                                                                        \
    do {                                                                                                     \
        if (sound(v))                                                                                        \
            (v)->report.fault = str_from(arena_printf((v)->arena, __VA_ARGS__));                             \
    } while (0)

static pawl_status verify_rows(struct verify *v) {
    pawl_status status = PAWL_OK;
    struct statement s = statement_begin(v->op, SQLITE_Q_RUN_VERIFY);
    while (status == PAWL_OK && statement_next(&s)) {
        uint8_t hash[SHA256_BYTES];
        struct audit_run row = audit_row_read(&s, v->op->scratch);
        row.expires_ms = column_int(&s, 17);
        v->report.rows++;
        status = audit_run_hash(&row, hash, v->op->err);
        if (status != PAWL_OK)
            break;
        pawl_str entries = column_borrow(&s, 19);
        int64_t place = column_int(&s, 18);
        const char *listed = audit_entry_hash(entries, place);
        if (!hash_is(column_borrow(&s, 16), hash))
            FAULT(v, "task_run %" PRId64 " was changed", row.id);
        else if (listed == NULL || memcmp(listed, hash, SHA256_BYTES) != 0 ||
                 audit_entry_expires_ms(entries, (size_t)place) != row.expires_ms)
            FAULT(v, "task_run %" PRId64 " is not in its block", row.id);
    }
    return statement_close(&s, status);
}

static pawl_status verify_blocks(struct verify *v) {
    uint8_t before[SHA256_BYTES] = {0}, hash[SHA256_BYTES];
    struct audit_block last = {0};
    pawl_status status = PAWL_OK;
    struct statement s = statement_begin(v->op, SQLITE_Q_BLOCK_LIST);
    while (status == PAWL_OK && statement_next(&s)) {
        struct audit_block block = {column_uuid(&s, 0), column_int(&s, 1), column_int(&s, 2),
                                    column_int(&s, 3), column_borrow(&s, 6)};
        pawl_str previous = column_borrow(&s, 4), stored = column_borrow(&s, 5);
        if (v->report.blocks == 0 || !uuid_equal(last.chain, block.chain)) {
            last.number = 0;
            memset(before, 0, sizeof before);
            v->report.chains++;
        }
        v->report.blocks++;
        v->report.removed += (int64_t)(block.entries.len / AUDIT_ENTRY_BYTES);
        if (!hash_is(previous, before) || block.number != last.number + 1)
            FAULT(v, "block %" PRId64 " does not follow the one before", block.number);
        status = audit_block_hash(before, &block, hash, v->op->err);
        if (status == PAWL_OK && (!hash_is(stored, hash) || block.entries.len % AUDIT_ENTRY_BYTES != 0))
            FAULT(v, "block %" PRId64 " was changed", block.number);
        memcpy(before, hash, sizeof before);
        last = block;
    }
    return statement_close(&s, status);
}

static pawl_status verify_heads(struct verify *v) {
    struct statement s = statement_begin(v->op, SQLITE_Q_CHAIN_BROKEN);
    if (statement_next(&s))
        FAULT(v, "the last block of a chain is missing or was changed");
    return statement_end(&s);
}

/* Rows by block and place go along with the blocks by id: an entry may lack its row once its
 * retention has ended, not before. */
static pawl_status verify_removed(struct verify *v) {
    struct statement blocks = statement_begin(v->op, SQLITE_Q_BLOCK_LIST_ID);
    struct statement rows = statement_begin(v->op, SQLITE_Q_RUN_PLACES);
    bool row = statement_next(&rows);
    while (sound(v) && statement_next(&blocks)) {
        int64_t id = column_int(&blocks, 0);
        pawl_str entries = column_borrow(&blocks, 3);
        for (size_t place = 0; place < entries.len / AUDIT_ENTRY_BYTES; place++) {
            while (row && (column_int(&rows, 0) < id ||
                           (column_int(&rows, 0) == id && column_int(&rows, 1) < (int64_t)place)))
                row = statement_next(&rows);
            bool there = row && column_int(&rows, 0) == id && column_int(&rows, 1) == (int64_t)place;
            if (!there && audit_entry_expires_ms(entries, place) >= v->op->now_ms) {
                char chain[UUID_TEXT_BYTES];
                FAULT(v,
                      "an execution was removed before its time: place %zu of block %" PRId64 " of chain %s",
                      place, column_int(&blocks, 2), uuid_format(column_uuid(&blocks, 1), chain));
            }
        }
    }
    pawl_status status = statement_end(&blocks), ended = statement_end(&rows);
    return status == PAWL_OK ? ended : status;
}

/* An anchor while its heads are read. */
struct anchor {
    int64_t number, made_ms;
    uint8_t previous[SHA256_BYTES], stored[SHA256_BYTES];
    struct buf heads;
};

static pawl_status anchor_end(struct verify *v, struct anchor *anchor, pawl_str expect, bool *expected) {
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_TEXT_BYTES];
    if (anchor->number == 0)
        return PAWL_OK;
    TRY(buf_status(&anchor->heads, v->op->name, v->op->err));
    TRY(audit_anchor_hash(anchor->previous, anchor->number, anchor->made_ms, buf_str(&anchor->heads), hash,
                          v->op->err));
    if (memcmp(hash, anchor->stored, sizeof hash) != 0)
        FAULT(v, "anchor %" PRId64 " was changed", anchor->number);
    sha256_text(hash, hex);
    *expected = *expected ||
                (expect.len == SHA256_TEXT_BYTES - 1 && strncasecmp(expect.ptr, hex, expect.len) == 0);
    buf_reset(&anchor->heads);
    return PAWL_OK;
}

static void anchor_begin(struct verify *v, struct statement *s, struct anchor *anchor) {
    pawl_str previous = column_borrow(s, 2), stored = column_borrow(s, 3);
    if (column_int(s, 0) != anchor->number + 1 || !hash_is(previous, anchor->stored))
        FAULT(v, "anchor %" PRId64 " does not follow the one before", column_int(s, 0));
    anchor->number = column_int(s, 0);
    anchor->made_ms = column_int(s, 1);
    if (previous.len == SHA256_BYTES)
        memcpy(anchor->previous, previous.ptr, SHA256_BYTES);
    if (stored.len == SHA256_BYTES)
        memcpy(anchor->stored, stored.ptr, SHA256_BYTES);
    v->report.anchors++;
}

static pawl_status verify_anchors(struct verify *v, pawl_str expect) {
    bool expected = str_absent(expect);
    struct anchor anchor = {0};
    pawl_status status = PAWL_OK;
    buf_init(&anchor.heads, 0);
    struct statement s = statement_begin(v->op, SQLITE_Q_ANCHOR_VERIFY);
    while (status == PAWL_OK && statement_next(&s)) {
        if (column_int(&s, 0) != anchor.number) {
            status = anchor_end(v, &anchor, expect, &expected);
            anchor_begin(v, &s, &anchor);
        }
        pawl_str hash = column_borrow(&s, 6), block = column_borrow(&s, 7);
        if (hash.len != SHA256_BYTES)
            continue; /* no head at all, or no hash: the anchor's own does not fit */
        audit_head_append(&anchor.heads, column_uuid(&s, 4), column_int(&s, 5), (const uint8_t *)hash.ptr);
        if (!hash_is(block, (const uint8_t *)hash.ptr))
            FAULT(v, "block %" PRId64 ", which anchor %" PRId64 " names, is missing or another one",
                  column_int(&s, 5), anchor.number);
    }
    if (status == PAWL_OK)
        status = anchor_end(v, &anchor, expect, &expected);
    pawl_status ended = statement_end(&s);
    buf_free(&anchor.heads);
    if (status != PAWL_OK || ended != PAWL_OK)
        return status != PAWL_OK ? status : ended;
    struct statement lost = statement_begin(v->op, SQLITE_Q_ANCHOR_LOST);
    if (statement_next(&lost))
        FAULT(v, "anchor %" PRId64 " is missing", column_int(&lost, 0));
    if (!expected && sound(v))
        v->report.fault = audit_anchor_unknown(expect, v->arena);
    return statement_end(&lost);
}

pawl_status sqlite_jobs_audit_verify(struct store *store, pawl_str expect, struct arena *arena,
                                     struct audit_report *out, pawl_error *err) {
    struct operation op = operation_read(store, "audit_verify", check_audit_expect(expect, err), err);
    struct verify v = {.op = &op, .arena = arena};
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = verify_rows(&v);
    if (status == PAWL_OK)
        status = verify_blocks(&v);
    if (status == PAWL_OK)
        status = verify_heads(&v);
    if (status == PAWL_OK)
        status = verify_removed(&v);
    if (status == PAWL_OK)
        status = verify_anchors(&v, expect);
    v.report.removed -= v.report.rows;
    v.report.sound = sound(&v);
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = v.report;
    return status;
}
