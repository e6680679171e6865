/* Parsing and writing trace context, and sampling. */
#include "domain/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/tree.h"
#include "base/str.h"

/* version - trace id - span id - flags */
enum { AT_TRACE = 3, AT_SPAN = 36, AT_FLAGS = 53, TEXT_LEN = TRACEPARENT_BYTES - 1 };

/* Capital letters are not allowed there. */
static bool read_hex(const char *text, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0 || (text[2 * i] >= 'A' && text[2 * i] <= 'F') ||
            (text[2 * i + 1] >= 'A' && text[2 * i + 1] <= 'F'))
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool all_zero(const uint8_t *bytes, size_t count) {
    static const uint8_t zeros[TRACE_ID_BYTES];
    return memcmp(bytes, zeros, count) == 0;
}

bool trace_parse(pawl_str text, struct trace_context *context) {
    struct trace_context read;
    uint8_t version = 0;
    if (text.len < TEXT_LEN || !read_hex(text.ptr, &version, 1) || version == 0xff)
        return false;
    if (text.len > TEXT_LEN && (version == 0 || text.ptr[TEXT_LEN] != '-'))
        return false;
    if (text.ptr[AT_TRACE - 1] != '-' || text.ptr[AT_SPAN - 1] != '-' || text.ptr[AT_FLAGS - 1] != '-')
        return false;
    if (!read_hex(text.ptr + AT_TRACE, read.trace_id, TRACE_ID_BYTES) ||
        !read_hex(text.ptr + AT_SPAN, read.span_id, SPAN_ID_BYTES) ||
        !read_hex(text.ptr + AT_FLAGS, &read.flags, 1))
        return false;
    if (all_zero(read.trace_id, TRACE_ID_BYTES) || all_zero(read.span_id, SPAN_ID_BYTES))
        return false;
    read.flags &= TRACE_SAMPLED;
    *context = read;
    return true;
}

char *trace_format(const struct trace_context *context, char text[static TRACEPARENT_BYTES]) {
    memcpy(text, "00-", AT_TRACE);
    hex_format(context->trace_id, TRACE_ID_BYTES, text + AT_TRACE);
    text[AT_SPAN - 1] = '-';
    hex_format(context->span_id, SPAN_ID_BYTES, text + AT_SPAN);
    text[AT_FLAGS - 1] = '-';
    hex_format(&context->flags, 1, text + AT_FLAGS);
    return text;
}

static bool read_ratio(pawl_str text, double *ratio) {
    char copy[32];
    char *end = NULL;
    if (text.len == 0) {
        *ratio = 1;
        return true;
    }
    if (text.len >= sizeof(copy))
        return false;
    snprintf(copy, sizeof(copy), "%.*s", STR_ARG(text));
    double value = strtod(copy, &end);
    if (*end != '\0' || !isfinite(value) || value < 0 || value > 1)
        return false;
    *ratio = value;
    return true;
}

bool trace_sampler_parse(pawl_str name, pawl_str argument, struct trace_sampler *sampler) {
    pawl_str prefix = STR("parentbased_");
    struct trace_sampler read = {.follows_parent = str_starts_with(name, prefix), .ratio = 1};
    if (read.follows_parent)
        name = (pawl_str){name.ptr + prefix.len, name.len - prefix.len};
    if (str_equal_cstr(name, "always_off"))
        read.ratio = 0;
    else if (str_equal_cstr(name, "traceidratio")) {
        if (!read_ratio(argument, &read.ratio))
            return false;
    } else if (!str_equal_cstr(name, "always_on"))
        return false;
    *sampler = read;
    return true;
}

bool trace_sampled(const struct trace_sampler *sampler, const struct trace_context *parent,
                   const uint8_t trace_id[static TRACE_ID_BYTES]) {
    if (sampler->follows_parent && parent != NULL)
        return (parent->flags & TRACE_SAMPLED) != 0;
    if (sampler->ratio >= 1)
        return true;
    /* The last 63 bits: the end of a trace id is its random part. */
    uint64_t number = 0;
    for (int i = 8; i < TRACE_ID_BYTES; i++)
        number = number << 8 | trace_id[i];
    return (double)(number >> 1) < sampler->ratio * 9223372036854775808.0;
}

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

pawl_str trace_state_read(pawl_str traceparent, pawl_str headers, char out[static TRACESTATE_BYTES]) {
    pawl_str read = {NULL, 0};
    struct trace_context context;
    const struct tree *object = NULL;
    pawl_error ignored; /* headers that are not JSON have no tracestate */
    if (!names_it(headers) || !trace_parse(traceparent, &context))
        return read;
    struct arena *arena = arena_create(0);
    if (tree_parse(arena, headers, NULL, &object, &ignored) == PAWL_OK) {
        pawl_str state = tree_get_text(object, NAME);
        if (str_absent(state))
            state = tree_get_text(tree_get_cstr(object, "metadata"), NAME);
        if (trace_state_valid(state)) {
            memcpy(out, state.ptr, state.len);
            out[state.len] = '\0';
            read = (pawl_str){out, state.len};
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
