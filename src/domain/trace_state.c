/* Parsing W3C tracestate, and keeping it in headers. */
#include "domain/trace_state.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/tree.h"
#include "base/str.h"
#include "domain/trace.h"

enum { MEMBERS_MAX = 32, KEY_BYTES_MAX = 256, VALUE_BYTES_MAX = 256 };
#define NAME "tracestate"

static bool is_key_char(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (!first && (c == '_' || c == '-' || c == '*' || c == '/' || c == '@'));
}

/* "vendor=opaque", without blanks around it; *key is what precedes the sign. */
static bool member_valid(pawl_str member, pawl_str *key) {
    pawl_str value;
    *key = str_before(member, '=', &value);
    if (key->len == 0 || key->len > KEY_BYTES_MAX || value.len == 0 || value.len > VALUE_BYTES_MAX)
        return false;
    for (size_t i = 0; i < key->len; i++)
        if (!is_key_char(key->ptr[i], i == 0))
            return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < ' ' || value.ptr[i] > '~' || value.ptr[i] == '=')
            return false;
    return true;
}

static pawl_str trim_blanks(pawl_str text) {
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = (pawl_str){text.ptr + 1, text.len - 1};
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

bool trace_state_valid(pawl_str text) {
    pawl_str keys[MEMBERS_MAX];
    size_t count = 0;
    if (text.len > PAWL_TRACESTATE_BYTES_MAX)
        return false;
    for (pawl_str part; str_next(&text, ',', &part);) {
        pawl_str member = trim_blanks(part);
        if (member.len == 0)
            continue; /* W3C allows empty list members */
        if (count == MEMBERS_MAX || !member_valid(member, &keys[count]))
            return false;
        for (size_t i = 0; i < count; i++)
            if (str_equal(keys[i], keys[count]))
                return false;
        count++;
    }
    return count > 0;
}

/* Most headers have none: they are not parsed for it. */
static bool names_it(pawl_str object) {
    return !str_absent(object) && memmem(object.ptr, object.len, NAME, sizeof NAME - 1) != NULL;
}

static const struct tree *member_of(const struct tree *object, const char *key, enum tree_kind kind) {
    const struct tree *found = object != NULL && object->kind == TREE_OBJECT ? tree_get_cstr(object, key)
                                                                             : NULL;
    return found != NULL && found->kind == kind ? found : NULL;
}

pawl_str trace_state_read(pawl_str traceparent, pawl_str headers, char out[static TRACESTATE_BYTES]) {
    pawl_str read = {NULL, 0};
    struct trace_context context;
    const struct tree *object = NULL;
    pawl_error ignored; /* headers that are not JSON have no tracestate */
    if (!names_it(headers) || !trace_parse(traceparent, &context))
        return read;
    struct arena *arena = arena_create(0);
    if (tree_parse(arena, headers, NULL, &object, &ignored) == PAWL_OK) {
        const struct tree *state = member_of(object, NAME, TREE_STRING);
        if (state == NULL)
            state = member_of(member_of(object, "metadata", TREE_OBJECT), NAME, TREE_STRING);
        if (state != NULL && trace_state_valid(state->text)) {
            memcpy(out, state->text.ptr, state->text.len);
            out[state->text.len] = '\0';
            read = (pawl_str){out, state->text.len};
        }
    }
    arena_free(arena);
    return read;
}

pawl_str trace_state_add(struct arena *arena, pawl_str object, pawl_str state, size_t bytes_max) {
    pawl_str rest = str_trim(object);
    struct buf text;
    if (!trace_state_valid(state) || names_it(object) ||
        (!str_absent(object) && (rest.len < 2 || rest.ptr[0] != '{')))
        return object;
    rest = str_absent(object) ? STR("}") : str_trim((pawl_str){rest.ptr + 1, rest.len - 1});
    buf_init(&text, bytes_max);
    buf_append_cstr(&text, "{\"" NAME "\":");
    json_quote(&text, state);
    buf_append_cstr(&text, rest.ptr[0] == '}' ? "" : ",");
    buf_append(&text, rest.ptr, rest.len);
    char *made = text.failed ? NULL : arena_copy(arena, text.ptr, text.len);
    pawl_str added = made != NULL ? (pawl_str){made, text.len} : object;
    buf_free(&text);
    return added;
}
