/* Computing the hashes of the audit. */
#include "domain/authority/audit.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/uuid.h"

static pawl_status append_hash(struct buf *text, pawl_str part, pawl_error *err) {
    char hex[SHA256_TEXT_BYTES];
    buf_append_char(text, '|');
    if (str_absent(part))
        return PAWL_OK;
    pawl_status status = sha256_hex(part, hex, err);
    if (status == PAWL_OK)
        buf_append_cstr(text, hex);
    return status;
}

/* Takes the text. */
static pawl_status hash_text(struct buf *text, uint8_t hash[static SHA256_BYTES], pawl_error *err) {
    pawl_status status = buf_status(text, "audit", err);
    if (status == PAWL_OK)
        status = sha256(buf_str(text), hash, err);
    buf_free(text);
    return status;
}

pawl_status audit_run_hash(const struct audit_run *row, uint8_t hash[static SHA256_BYTES], pawl_error *err) {
    struct buf text;
    char instance[UUID_TEXT_BYTES] = "";
    buf_init(&text, 0);
    if (!uuid_is_nil(row->instance))
        (void)uuid_format(row->instance, instance);
    buf_printf(&text, "%" PRId64 "|%" PRId64 "|", row->id, row->job_id);
    buf_append_str(&text, row->task);
    buf_append_char(&text, '|');
    buf_append_str(&text, row->type);
    buf_append_char(&text, '|');
    buf_append_str(&text, row->queue);
    buf_printf(&text, "|%d|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%d|", row->attempt, instance, row->token,
               row->started_ms, row->finished_ms, row->outcome);
    buf_append_str(&text, row->input_hash);
    buf_append_char(&text, '|');
    buf_append_str(&text, row->output_hash);
    pawl_status status = append_hash(&text, row->output, err);
    if (status == PAWL_OK)
        status = append_hash(&text, row->error, err);
    if (status == PAWL_OK)
        status = append_hash(&text, row->steps, err);
    buf_printf(&text, "|%" PRId64, row->expires_ms);
    if (status == PAWL_OK)
        return hash_text(&text, hash, err);
    buf_free(&text);
    return status;
}

static void append_number(struct buf *text, int64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * (7 - i)));
    buf_append(text, bytes, sizeof bytes);
}

void audit_entry_append(struct buf *entries, const uint8_t hash[static SHA256_BYTES], int64_t expires_ms) {
    buf_append(entries, hash, SHA256_BYTES);
    append_number(entries, expires_ms);
}

int64_t audit_entry_expires_ms(pawl_str entries, size_t place) {
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | (uint8_t)entries.ptr[place * AUDIT_ENTRY_BYTES + SHA256_BYTES + i];
    return (int64_t)number;
}

const char *audit_entry_hash(pawl_str entries, int64_t place) {
    if (place < 0 || (uint64_t)place >= entries.len / AUDIT_ENTRY_BYTES)
        return NULL;
    return entries.ptr + (size_t)place * AUDIT_ENTRY_BYTES;
}

pawl_status audit_block_hash(const uint8_t previous[static SHA256_BYTES], const struct audit_block *block,
                             uint8_t hash[static SHA256_BYTES], pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    buf_append(&text, previous, SHA256_BYTES);
    buf_append(&text, block->chain.b, sizeof block->chain.b);
    append_number(&text, block->number);
    append_number(&text, block->id);
    append_number(&text, block->made_ms);
    buf_append_str(&text, block->entries);
    return hash_text(&text, hash, err);
}

void audit_head_append(struct buf *heads, pawl_uuid chain, int64_t number,
                       const uint8_t hash[static SHA256_BYTES]) {
    buf_append(heads, chain.b, sizeof chain.b);
    append_number(heads, number);
    buf_append(heads, hash, SHA256_BYTES);
}

pawl_status audit_anchor_hash(const uint8_t previous[static SHA256_BYTES], int64_t number, int64_t made_ms,
                              pawl_str heads, uint8_t hash[static SHA256_BYTES], pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    buf_append(&text, previous, SHA256_BYTES);
    append_number(&text, number);
    append_number(&text, made_ms);
    buf_append_str(&text, heads);
    return hash_text(&text, hash, err);
}
