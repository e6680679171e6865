/* The handlers file: a section per pattern, a line per rule. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/options/secret.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/table.h"

struct handlers_reader {
    struct handler_table *table;
    const char *path;
    int line;
    int section_line;
    bool in_section;
    pawl_str pattern;
    pawl_handler handler;
    unsigned seen; /* a bit per key */
};

static pawl_status fault(const struct handlers_reader *reader, int line, pawl_status status,
                         const char *reason, pawl_error *err) {
    return error_set(err, status, "handlers file", "%s:%d: %s", reader->path, line, reason);
}

/* The section is complete: its handler joins the table. */
static pawl_status section_end(struct handlers_reader *reader, pawl_error *err) {
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

static pawl_status section_begin(struct handlers_reader *reader, pawl_str line, pawl_error *err) {
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

enum value_kind { VALUE_TEXT, VALUE_DURATION, VALUE_NUMBER, VALUE_SWITCH, VALUE_ON_DEAD, VALUE_SECRET };

/* One key of a section: which member of pawl_handler it sets, and how. */
struct key_row {
    const char *key;
    enum value_kind kind;
    size_t at;           /* of the member */
    const char *choices; /* VALUE_SWITCH: the words for false and true */
    int64_t max;         /* VALUE_NUMBER */
    const char *wanted;  /* the sentence that refuses a value */
};

#define MEMBER(name) offsetof(pawl_handler, name)

static const struct key_row key_rows[] = {
    {"exec", VALUE_TEXT, MEMBER(command), NULL, 0, "exec needs a command, for example exec = ./handle.sh"},
    {"http", VALUE_TEXT, MEMBER(url), NULL, 0,
     "http needs an address, for example http = https://example.com/orders"},
    {"secret-env", VALUE_SECRET, MEMBER(secret), NULL, 0,
     "the variable of secret-env is empty, or there is a secret already"},
    {"secret-file", VALUE_SECRET, MEMBER(secret), NULL, 0,
     "the file of secret-file is empty or cannot be read, or there is a secret already"},
    {"allow-private", VALUE_SWITCH, MEMBER(allow_private), "false|true", 0,
     "allow-private needs true or false"},
    {"timeout", VALUE_DURATION, MEMBER(timeout_ms), NULL, 0,
     "timeout needs a duration above 0, for example 30s"},
    {"concurrency", VALUE_NUMBER, MEMBER(concurrency), NULL, 10000,
     "concurrency needs a number from 1 to 10000"},
    {"retry-base", VALUE_DURATION, MEMBER(retry_base_ms), NULL, 0,
     "retry-base needs a duration above 0, for example 1s"},
    {"retry-max", VALUE_DURATION, MEMBER(retry_max_ms), NULL, 0,
     "retry-max needs a duration above 0, for example 60s"},
    {"max-attempts", VALUE_NUMBER, MEMBER(max_attempts), NULL, PAWL_ATTEMPTS_MAX,
     "max-attempts needs a number from 1 to 1000"},
    {"on-dead", VALUE_ON_DEAD, MEMBER(on_dead), NULL, 0, "on-dead needs block, skip or park"},
    {"from", VALUE_SWITCH, MEMBER(from_start), "now|start", 0, "from needs now or start"},
};

/* Sets the member; false: the value is not one that the key takes. */
static bool read_value(struct handlers_reader *reader, const struct key_row *row, pawl_str value) {
    void *member = (char *)&reader->handler + row->at;
    const char *text = arena_copy(reader->table->arena, value.ptr, value.len);
    int64_t number = 0;
    int choice = 0;
    switch (row->kind) {
    case VALUE_TEXT:
        *(const char **)member = text;
        return text != NULL && value.len > 0;
    case VALUE_DURATION:
        return clock_parse_duration(value, member) && *(int64_t *)member > 0;
    case VALUE_NUMBER:
        if (!str_to_i64(value, 1, row->max, &number))
            return false;
        *(int *)member = (int)number;
        return true;
    case VALUE_SWITCH:
        choice = str_choice(row->choices, value);
        *(bool *)member = choice == 1;
        return choice >= 0;
    case VALUE_ON_DEAD:
        choice = str_choice("block|skip|park", value);
        reader->handler.on_dead = (pawl_on_dead)(PAWL_ON_DEAD_BLOCK + choice);
        return choice >= 0;
    case VALUE_SECRET:
        if (reader->handler.secret != NULL || text == NULL)
            return false;
        reader->handler.secret =
            strcmp(row->key, "secret-env") == 0 ? getenv(text) : secret_file_read(reader->table->arena, text);
        return reader->handler.secret != NULL && reader->handler.secret[0] != '\0';
    }
    return false;
}

static pawl_status key_value(struct handlers_reader *reader, pawl_str line, pawl_error *err) {
    pawl_str value, key = str_trim(str_before(line, '=', &value));
    if (str_absent(value))
        return fault(reader, reader->line, PAWL_INVALID, "a line is [PATTERN], key = value, or starts with #",
                     err);
    if (!reader->in_section)
        return fault(reader, reader->line, PAWL_INVALID, "a [PATTERN] line must come first", err);
    for (size_t i = 0; i < sizeof(key_rows) / sizeof(*key_rows); i++) {
        if (!str_equal_cstr(key, key_rows[i].key))
            continue;
        if ((reader->seen & (1u << i)) != 0)
            return fault(reader, reader->line, PAWL_INVALID, "the key is given twice in this section", err);
        reader->seen |= 1u << i;
        if (!read_value(reader, &key_rows[i], str_trim(value)))
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

static pawl_status read_lines(struct handlers_reader *reader, pawl_str text, pawl_error *err) {
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
    struct handlers_reader reader = {.table = table, .path = path};
    if (status == PAWL_OK)
        status = read_lines(&reader, text, err);
    if (status == PAWL_OK && table->count == before)
        status = error_set(err, PAWL_INVALID, "handlers file",
                           "%s has no handler; write [PATTERN] and exec = … or http = …", path);
    arena_free(arena);
    return status;
}
