/* The handlers file: a section per pattern, a line per rule. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/options/sections.h"
#include "base/str.h"
#include "handler/table.h"

struct handlers_reader {
    struct handler_table *table;
    pawl_str pattern;
    pawl_handler handler;
};

#define MEMBER(name) offsetof(pawl_handler, name)

static const struct section_key keys[] = {
    {SECTION_KEY("exec", SECTION_TEXT, MEMBER(command),
                 "exec needs a command, for example exec = ./handle.sh")},
    {SECTION_KEY("pipe", SECTION_TEXT, MEMBER(pipe),
                 "pipe needs a command, for example pipe = python3 handlers.py")},
    {SECTION_KEY("recycle-after", SECTION_NUMBER, MEMBER(recycle_after),
                 "recycle-after needs a number of items from 1 to 1000000000"),
     .max = 1000000000},
    {SECTION_KEY("recycle-mb", SECTION_NUMBER, MEMBER(recycle_mb),
                 "recycle-mb needs a number of megabytes from 1 to 1000000"),
     .max = 1000000},
    {SECTION_KEY("http", SECTION_TEXT, MEMBER(url),
                 "http needs an address, for example http = https://example.com/orders")},
    {SECTION_KEY("secret", SECTION_SECRET, MEMBER(secret), NULL)},
    {SECTION_KEY("allow-private", SECTION_SWITCH, MEMBER(allow_private), "allow-private needs true or false"),
     .choices = "false|true"},
    {SECTION_KEY("timeout", SECTION_DURATION, MEMBER(timeout_ms),
                 "timeout needs a duration above 0, for example 30s")},
    {SECTION_KEY("concurrency", SECTION_NUMBER, MEMBER(concurrency),
                 "concurrency needs a number from 1 to 10000"),
     .max = 10000},
    {SECTION_KEY("retry-base", SECTION_DURATION, MEMBER(retry_base_ms),
                 "retry-base needs a duration above 0, for example 1s")},
    {SECTION_KEY("retry-max", SECTION_DURATION, MEMBER(retry_max_ms),
                 "retry-max needs a duration above 0, for example 60s")},
    {SECTION_KEY("max-attempts", SECTION_NUMBER, MEMBER(max_attempts),
                 "max-attempts needs a number from 1 to 1000"),
     .max = PAWL_ATTEMPTS_MAX},
    {SECTION_KEY("on-dead", SECTION_CHOICE, MEMBER(on_dead), "on-dead needs block, skip or park"),
     .max = PAWL_ON_DEAD_BLOCK, .choices = "block|skip|park"},
    {SECTION_KEY("from", SECTION_SWITCH, MEMBER(from_start), "from needs now or start"),
     .choices = "now|start"},
};

static pawl_status section_begin(struct section_file *file, pawl_str inside, pawl_error *err) {
    struct handlers_reader *reader = file->self;
    pawl_str name;
    handler_name_split(inside, &name, &reader->pattern);
    reader->handler = (pawl_handler){0};
    if (!str_absent(name)) {
        reader->handler.receptor = arena_copy(file->arena, name.ptr, name.len);
        if (reader->handler.receptor == NULL)
            return error_no_memory(err, file->op);
    }
    file->keys = keys;
    file->key_count = sizeof(keys) / sizeof(*keys);
    file->into = &reader->handler;
    return PAWL_OK;
}

/* The section is complete: its handler joins the table. */
static pawl_status section_end(struct section_file *file, pawl_error *err) {
    struct handlers_reader *reader = file->self;
    const pawl_handler *handler = &reader->handler;
    const char *fault = NULL;
    int ways = (handler->command != NULL) + (handler->pipe != NULL) + (handler->url != NULL);
    if (ways == 0)
        fault = "the section has no exec, pipe or http; add a line like exec = ./handle.sh";
    else if (ways > 1)
        fault = "the section has more than one of exec, pipe and http; a handler is one of them";
    else if (handler->url == NULL && (handler->secret != NULL || handler->allow_private))
        fault = "secret-env, secret-file and allow-private belong to http";
    if (fault != NULL)
        return section_whole_fault(file, PAWL_INVALID, fault, err);
    pawl_error inner = {0};
    pawl_status status = handler_table_add(reader->table, reader->pattern, handler, &inner);
    return status == PAWL_OK ? PAWL_OK : section_whole_fault(file, status, inner.text, err);
}

static pawl_status stray(struct section_file *file, pawl_str key, pawl_str value, pawl_error *err) {
    char reason[320];
    (void)value;
    snprintf(reason, sizeof(reason),
             "unknown key '%.*s'; the keys are exec, pipe, recycle-after, recycle-mb, http, secret-env, "
             "secret-file, allow-private, timeout, "
             "concurrency, retry-base, retry-max, max-attempts, on-dead, from",
             key.len < 40 ? (int)key.len : 40, key.ptr);
    return section_fault(file, PAWL_INVALID, reason, err);
}

pawl_status handler_table_add_file(struct handler_table *table, const char *path, pawl_error *err) {
    struct handlers_reader reader = {.table = table};
    struct section_file file = {.op = "handlers file",
                                .path = path,
                                .sections = "write [PATTERN], for example [order.*]",
                                .arena = table->arena,
                                .self = &reader,
                                .begin = section_begin,
                                .end = section_end,
                                .stray = stray};
    size_t before = table->count;
    pawl_status status = section_file_read(&file, err);
    if (status == PAWL_OK && table->count == before)
        status = error_set(err, PAWL_INVALID, "handlers file",
                           "%s has no handler; write [PATTERN] and exec = …, pipe = … or http = …", path);
    return status;
}

#define SECRET_VARIABLE "PAWL_WEBHOOK_SECRET"

static bool name_character(char c) { return char_is_alnum(c) || c == '_' || c == '-' || c == '.'; }

void handler_name_split(pawl_str text, pawl_str *name, pawl_str *pattern) {
    pawl_str rest, before = str_before(text, '@', &rest);
    bool named = before.len > 0 && !str_absent(rest);
    for (size_t i = 0; i < before.len; i++)
        named = named && name_character(before.ptr[i]);
    *name = named ? before : (pawl_str){NULL, 0};
    *pattern = named ? rest : text;
}

pawl_status handler_table_add_spec(struct handler_table *table, pawl_str spec, pawl_error *err) {
    pawl_str name, pattern, target, left = str_trim(str_before(spec, '=', &target));
    if (str_absent(target))
        return error_set(
            err, PAWL_INVALID, "handler",
            "'%.*s' has no =; write PATTERN=exec:COMMAND, for example 'order.*=exec:./handle.sh'",
            STR_ARG(spec));
    pawl_handler handler = {0};
    target = str_trim(target);
    handler_name_split(left, &name, &pattern);
    bool exec = str_starts_with(target, STR("exec:")), pipe = str_starts_with(target, STR("pipe:"));
    if (!exec && !pipe && !str_starts_with(target, STR("http://")) &&
        !str_starts_with(target, STR("https://")))
        return error_set(
            err, PAWL_INVALID, "handler",
            "'%.*s' is not a handler; the kinds are: exec:COMMAND, pipe:COMMAND, https://…, http://…",
            STR_ARG(target));
    size_t skipped = exec || pipe ? 5 : 0;
    char *copy = arena_copy(table->arena, target.ptr + skipped, target.len - skipped);
    char *receptor = !str_absent(name) ? arena_copy(table->arena, name.ptr, name.len) : NULL;
    if (copy == NULL || (receptor == NULL && !str_absent(name)))
        return error_no_memory(err, "handler");
    handler.receptor = receptor;
    if (exec) {
        handler.command = copy;
    } else if (pipe) {
        handler.pipe = copy;
    } else {
        handler.url = copy;
        handler.secret = getenv(SECRET_VARIABLE);
    }
    return handler_table_add(table, pattern, &handler, err);
}
