/* Parsing a handler from one line of text, as in --on. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "handler/table.h"

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
