/* Fuzzes cursors: what was made is read back, for its own list only, and nothing else is read at all. */
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "operations/front/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size}, rest, scope = str_before(text, '\n', &rest), key = {NULL, 0};
    struct arena *arena = arena_create(0);
    if (cursor_read(arena, scope, rest,
                    &key)) { /* then it is what would have been made, but for upper case */
        const char *made = cursor_make(arena, scope, key);
        must(made != NULL && strlen(made) == rest.len && strncasecmp(made, rest.ptr, rest.len) == 0);
    }
    const char *made = cursor_make(arena, scope, rest);
    must(made != NULL);
    if (cursor_read(arena, scope, str_from(made), &key))
        must(str_equal(key, rest));
    must(!cursor_read(arena, STR("another list"), str_from(made), &key) ||
         str_equal_cstr(scope, "another list"));
    arena_free(arena);
    return 0;
}
