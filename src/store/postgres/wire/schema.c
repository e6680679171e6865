/* Replacing the schema name in SQL text. */
#include "store/postgres/wire/schema.h"

#include <string.h>

#define WRITTEN_FOR "pawl"

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool ends_with(const char *text, const char *end, const char *word) {
    size_t len = strlen(word);
    return (size_t)(end - text) >= len && memcmp(end - len, word, len) == 0;
}

/* The second schema and the roles: their names begin with the schema's. */
static bool is_named_after(const char *name, size_t len) {
    static const char *const names[] = {"pawl_internal", "pawl_owner", "pawl_producer",
                                        "pawl_worker",   "pawl_view",  "pawl_operator",
                                        "pawl_server",   "pawl_lease", "pawl_program"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
            return true;
    }
    return false;
}

void pg_schema_substitute(struct buf *buf, const char *text, const char *schema) {
    const char *copied = text;
    for (const char *at = strstr(text, WRITTEN_FOR); at != NULL; at = strstr(at + 1, WRITTEN_FOR)) {
        const char *end = at;
        while (is_name(*end))
            end++;
        size_t len = (size_t)(end - at);
        bool quoted = at > text && at[-1] == '\'' && *end == '\'';
        bool whole = len == strlen(WRITTEN_FOR) && (*end == '.' || quoted || ends_with(text, at, "SCHEMA "));
        if ((at > text && (is_name(at[-1]) || at[-1] == '.')) || (!whole && !is_named_after(at, len)))
            continue;
        buf_append(buf, copied, (size_t)(at - copied));
        buf_append_cstr(buf, schema);
        copied = at + strlen(WRITTEN_FOR);
    }
    buf_append_cstr(buf, copied);
}
