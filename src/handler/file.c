/* The handlers file: a section per pattern, a line per rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/options/secret.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/table.h"

struct reader {
    struct handler_table *table;
    const char *path;
    int line;
    int section_line;
    bool in_section;
    pawl_str pattern;
    pawl_handler handler;
    unsigned seen; /* a bit per key */
};

static pawl_status fault(const struct reader *reader, int line, pawl_status status, const char *reason,
                         pawl_error *err) {
    return error_set(err, status, "handlers file", "%s:%d: %s", reader->path, line, reason);
}

/* The section is complete: its handler joins the table. */
static pawl_status section_end(struct reader *reader, pawl_error *err) {
    if (!reader->in_section)
        return PAWL_OK;
    reader->in_section = false;
    if (reader->handler.command == NULL && reader->handler.url == NULL)
        return fault(reader, reader->section_line, PAWL_INVALID,
                     "the section has no exec and no http; add a line like exec = ./handle.sh", err);
    if (reader->handler.command != NULL && reader->handler.url != NULL)
        return fault(reader, reader->section_line, PAWL_INVALID,
                     "the section has both exec and http; a handler is one of them", err);
    if (reader->handler.url == NULL && (reader->handler.secret != NULL || reader->handler.allow_private))
        return fault(reader, reader->section_line, PAWL_INVALID,
                     "secret-env, secret-file and allow-private belong to http", err);
    pawl_error inner = {0};
    pawl_status status = handler_table_add(reader->table, reader->pattern, &reader->handler, &inner);
    if (status != PAWL_OK)
        return fault(reader, reader->section_line, status, inner.text, err);
    return PAWL_OK;
}

static pawl_status section_begin(struct reader *reader, pawl_str line, pawl_error *err) {
    pawl_status status = section_end(reader, err);
    if (status != PAWL_OK)
        return status;
    if (line.ptr[line.len - 1] != ']')
        return fault(reader, reader->line, PAWL_INVALID, "a section ends with ]: write [order.*]", err);
    pawl_str name;
    handler_name_split(str_trim((pawl_str){line.ptr + 1, line.len - 2}), &name, &reader->pattern);
    reader->handler = (pawl_handler){0};
    if (!str_absent(name)) {
        reader->handler.receptor = arena_copy(reader->table->arena, name.ptr, name.len);
        if (reader->handler.receptor == NULL)
            return error_no_memory(err, "handlers file");
    }
    reader->seen = 0;
    reader->in_section = true;
    reader->section_line = reader->line;
    return PAWL_OK;
}

static bool read_int(pawl_str value, int64_t max, int *number) {
    int64_t read = 0;
    if (!str_to_i64(value, 1, max, &read))
        return false;
    *number = (int)read;
    return true;
}

static bool read_command(struct reader *reader, pawl_str value) {
    reader->handler.command = arena_copy(reader->table->arena, value.ptr, value.len);
    return reader->handler.command != NULL && value.len > 0;
}

static bool read_on_dead(struct reader *reader, pawl_str value) {
    static const char *const names[] = {"block", "skip", "park"};
    for (int i = 0; i < 3; i++) {
        if (str_equal_cstr(value, names[i])) {
            reader->handler.on_dead = (pawl_on_dead)(PAWL_ON_DEAD_BLOCK + i);
            return true;
        }
    }
    return false;
}

static bool read_http(struct reader *r, pawl_str v) {
    r->handler.url = arena_copy(r->table->arena, v.ptr, v.len);
    return r->handler.url != NULL && v.len > 0;
}
static bool read_secret_env(struct reader *r, pawl_str v) {
    const char *name = arena_copy(r->table->arena, v.ptr, v.len);
    if (r->handler.secret != NULL)
        return false;
    r->handler.secret = name != NULL ? getenv(name) : NULL;
    return r->handler.secret != NULL && r->handler.secret[0] != '\0';
}
static bool read_secret_file(struct reader *r, pawl_str v) {
    const char *path = arena_copy(r->table->arena, v.ptr, v.len);
    if (r->handler.secret != NULL)
        return false;
    r->handler.secret = path != NULL ? secret_file_read(r->table->arena, path) : NULL;
    return r->handler.secret != NULL;
}
static bool read_allow_private(struct reader *r, pawl_str v) {
    r->handler.allow_private = str_equal_cstr(v, "true");
    return r->handler.allow_private || str_equal_cstr(v, "false");
}
static bool read_exec(struct reader *r, pawl_str v) { return read_command(r, v); }
static bool read_timeout(struct reader *r, pawl_str v) {
    return clock_parse_duration(v, &r->handler.timeout_ms) && r->handler.timeout_ms > 0;
}
static bool read_concurrency(struct reader *r, pawl_str v) {
    return read_int(v, 10000, &r->handler.concurrency);
}
static bool read_retry_base(struct reader *r, pawl_str v) {
    return clock_parse_duration(v, &r->handler.retry_base_ms) && r->handler.retry_base_ms > 0;
}
static bool read_retry_max(struct reader *r, pawl_str v) {
    return clock_parse_duration(v, &r->handler.retry_max_ms) && r->handler.retry_max_ms > 0;
}
static bool read_from(struct reader *r, pawl_str v) {
    r->handler.from_start = str_equal_cstr(v, "start");
    return r->handler.from_start || str_equal_cstr(v, "now");
}
static bool read_attempts(struct reader *r, pawl_str v) {
    return read_int(v, PAWL_ATTEMPTS_MAX, &r->handler.max_attempts);
}

static const struct {
    const char *key;
    bool (*read)(struct reader *reader, pawl_str value);
    const char *wanted;
} key_rows[] = {
    {"exec", read_exec, "exec needs a command, for example exec = ./handle.sh"},
    {"http", read_http, "http needs an address, for example http = https://example.com/orders"},
    {"secret-env", read_secret_env, "the variable of secret-env is empty, or there is a secret already"},
    {"secret-file", read_secret_file,
     "the file of secret-file is empty or cannot be read, or there is a secret already"},
    {"allow-private", read_allow_private, "allow-private needs true or false"},
    {"timeout", read_timeout, "timeout needs a duration above 0, for example 30s"},
    {"concurrency", read_concurrency, "concurrency needs a number from 1 to 10000"},
    {"retry-base", read_retry_base, "retry-base needs a duration above 0, for example 1s"},
    {"retry-max", read_retry_max, "retry-max needs a duration above 0, for example 60s"},
    {"max-attempts", read_attempts, "max-attempts needs a number from 1 to 1000"},
    {"on-dead", read_on_dead, "on-dead needs block, skip or park"},
    {"from", read_from, "from needs now or start"},
};

static pawl_status key_value(struct reader *reader, pawl_str line, pawl_error *err) {
    const char *equals = memchr(line.ptr, '=', line.len);
    if (equals == NULL)
        return fault(reader, reader->line, PAWL_INVALID, "a line is [PATTERN], key = value, or starts with #",
                     err);
    if (!reader->in_section)
        return fault(reader, reader->line, PAWL_INVALID, "a [PATTERN] line must come first", err);
    pawl_str key = str_trim((pawl_str){line.ptr, (size_t)(equals - line.ptr)});
    pawl_str value = str_trim((pawl_str){equals + 1, (size_t)(line.ptr + line.len - equals - 1)});
    for (size_t i = 0; i < sizeof(key_rows) / sizeof(*key_rows); i++) {
        if (!str_equal_cstr(key, key_rows[i].key))
            continue;
        if ((reader->seen & (1u << i)) != 0)
            return fault(reader, reader->line, PAWL_INVALID, "the key is given twice in this section", err);
        reader->seen |= 1u << i;
        if (!key_rows[i].read(reader, value))
            return fault(reader, reader->line, PAWL_INVALID, key_rows[i].wanted, err);
        return PAWL_OK;
    }
    char reason[320];
    snprintf(reason, sizeof(reason),
             "unknown key '%.*s'; the keys are exec, http, secret-env, secret-file, allow-private, timeout, "
             "concurrency, retry-base, retry-max, max-attempts, "
             "on-dead, from",
             key.len < 40 ? (int)key.len : 40, key.ptr);
    return fault(reader, reader->line, PAWL_INVALID, reason, err);
}

static pawl_status read_lines(struct reader *reader, pawl_str text, pawl_error *err) {
    pawl_status status = PAWL_OK;
    pawl_str line;
    while (status == PAWL_OK && file_line(&text, &reader->line, &line))
        status = line.ptr[0] == '[' ? section_begin(reader, line, err) : key_value(reader, line, err);
    return status == PAWL_OK ? section_end(reader, err) : status;
}

pawl_status handler_table_add_file(struct handler_table *table, const char *path, pawl_error *err) {
    pawl_str text = {NULL, 0};
    struct arena *arena = arena_create(2 * PAWL_CONFIG_FILE_BYTES_MAX);
    if (arena == NULL)
        return error_no_memory(err, "handlers file");
    pawl_status status = file_read(arena, path, PAWL_CONFIG_FILE_BYTES_MAX, &text, err);
    size_t before = table->count;
    struct reader reader = {.table = table, .path = path};
    if (status == PAWL_OK)
        status = read_lines(&reader, text, err);
    if (status == PAWL_OK && table->count == before)
        status = error_set(err, PAWL_INVALID, "handlers file",
                           "%s has no handler; write [PATTERN] and exec = … or http = …", path);
    arena_free(arena);
    return status;
}
