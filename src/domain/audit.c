/* Hashes of the audit. */
#include "domain/audit.h"

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
    if (status == PAWL_OK)
        status = buf_status(&text, "audit", err);
    if (status == PAWL_OK)
        status = sha256(buf_str(&text), hash, err);
    buf_free(&text);
    return status;
}

pawl_status audit_block_hash(const uint8_t previous[static SHA256_BYTES], pawl_str hashes,
                             uint8_t hash[static SHA256_BYTES], pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    buf_append(&text, previous, SHA256_BYTES);
    buf_append_str(&text, hashes);
    pawl_status status = buf_status(&text, "audit", err);
    if (status == PAWL_OK)
        status = sha256(buf_str(&text), hash, err);
    buf_free(&text);
    return status;
}
