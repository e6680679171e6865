/* Reading from a receptor's message which event it carries. */
#include "work/receptors/event_origin.h"

#include <string.h>

#include "base/json/tree.h"
#include "base/str.h"

struct event_origin event_origin(const struct item *item, struct arena *arena) {
    /* Metadata comes from the user; it is last and is not read. */
    static const char metadata[] = ",\"metadata\":";
    struct event_origin origin = {.version = 0};
    const struct tree *headers = NULL;
    pawl_error ignored;
    pawl_str text = item->headers;
    if (str_absent(text))
        return origin;
    const char *cut = memmem(text.ptr, text.len, metadata, sizeof(metadata) - 1);
    if (cut != NULL)
        text = str_from(arena_printf(arena, "%.*s}", (int)(cut - text.ptr), text.ptr));
    if (str_absent(text) || tree_parse(arena, text, NULL, &headers, &ignored) != PAWL_OK)
        return origin;
    const struct tree *stream = tree_get_cstr(headers, "stream"),
                      *version = tree_get_cstr(headers, "version");
    if (stream != NULL && stream->kind == TREE_STRING)
        origin.stream = stream->text;
    if (version == NULL || version->kind != TREE_NUMBER || !tree_to_i64(version, &origin.version))
        origin.version = 0;
    return origin;
}
