/* Parsing one line of --ndjson. */
#include "cli/messages/ndjson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/options/options.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/messages.h"

/* The scanning below relies on json_valid having accepted the line: it only looks for where things end. */

static size_t skip_blanks(pawl_str text, size_t at) {
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL)
        at++;
    return at;
}

static size_t skip_string(pawl_str text, size_t at) {
    for (at++; text.ptr[at] != '"'; at++)
        if (text.ptr[at] == '\\')
            at++;
    return at + 1;
}

/* After the value that starts at `at`. */
static size_t skip_value(pawl_str text, size_t at) {
    int depth = 0;
    do {
        char c = text.ptr[at];
        if (c == '"') {
            at = skip_string(text, at);
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
        at++;
        /* A number or a word ends where a separator begins. */
        if (depth == 0 && strchr("{}[]", c) == NULL)
            while (at < text.len && strchr(" \t\r\n,}]", text.ptr[at]) == NULL)
                at++;
    } while (depth > 0);
    return at;
}

static uint32_t hex4(const char *at) {
    char digits[5] = {at[0], at[1], at[2], at[3], '\0'};
    return (uint32_t)strtoul(digits, NULL, 16);
}

static void append_code(struct buf *buf, uint32_t code) {
    if (code < 0x80) {
        buf_append_char(buf, (char)code);
        return;
    }
    if (code < 0x800) {
        buf_append_char(buf, (char)(0xc0 | code >> 6));
    } else {
        if (code < 0x10000) {
            buf_append_char(buf, (char)(0xe0 | code >> 12));
        } else {
            buf_append_char(buf, (char)(0xf0 | code >> 18));
            buf_append_char(buf, (char)(0x80 | (code >> 12 & 0x3f)));
        }
        buf_append_char(buf, (char)(0x80 | (code >> 6 & 0x3f)));
    }
    buf_append_char(buf, (char)(0x80 | (code & 0x3f)));
}

/* The escape after a backslash at `at`; where it ends. Surrogates come in pairs: json_valid refuses lone
 * ones. */
static size_t append_escape(struct buf *buf, pawl_str value, size_t at) {
    static const char names[] = "bfnrt";
    static const char codes[] = "\b\f\n\r\t";
    char c = value.ptr[at];
    if (c == 'u') {
        uint32_t code = hex4(value.ptr + at + 1);
        if (code < 0xd800 || code > 0xdbff) {
            append_code(buf, code);
            return at + 5;
        }
        append_code(buf, 0x10000 + ((code - 0xd800) << 10) + (hex4(value.ptr + at + 7) - 0xdc00));
        return at + 11;
    }
    const char *name = strchr(names, c);
    buf_append_char(buf, name != NULL ? codes[name - names] : c);
    return at + 1;
}

/* The text of a JSON string, unescaped, in the arena. */
static pawl_status unquote(struct arena *arena, pawl_str value, pawl_str *text, pawl_error *err) {
    if (value.ptr[0] != '"')
        return error_set(err, PAWL_INVALID, "ndjson", "is not a string");
    AUTO_BUF(buf, 0);
    for (size_t at = 1; at + 1 < value.len;) {
        if (value.ptr[at] == '\\')
            at = append_escape(&buf, value, at + 1);
        else
            buf_append_char(&buf, value.ptr[at++]);
    }
    TRY(buf_status(&buf, "ndjson", err));
    return str_dup(arena, (pawl_str){buf.ptr, buf.len}, text, err);
}

/* What the headers of an event are called. */
static const struct message_input metadata = {"metadata", INPUT_JSON, offsetof(pawl_outgoing, headers)};

static const struct message_input *field_at(size_t i) {
    return i < message_input_count ? &message_inputs[i] : &metadata;
}

static pawl_status unknown_key(pawl_str key, size_t count, pawl_error *err) {
    const char *names[MESSAGE_INPUTS_MAX + 1];
    char typed[64];
    for (size_t i = 0; i < count; i++)
        names[i] = field_at(i)->name;
    snprintf(typed, sizeof typed, "%.*s", STR_ARG(key));
    const char *close = options_suggest(typed, names, count);
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "ndjson", "the key \"%s\" means nothing. Did you mean \"%s\"?",
                         typed, close);
    return error_set(err, PAWL_INVALID, "ndjson", "the key \"%s\" means nothing. pawl help %s lists the keys",
                     typed, count > message_input_count ? "events append" : "send");
}

/* One "key": value of the object. null is the same as no key, except that a payload may be null. */
static pawl_status take_field(struct arena *arena, size_t count, pawl_str key, pawl_str value,
                              pawl_outgoing *message, pawl_error *err) {
    size_t i = 0;
    while (i < count && !str_equal_cstr(key, field_at(i)->name))
        i++;
    if (i == count)
        return unknown_key(key, count, err);
    const struct message_input *field = field_at(i);
    bool is_payload = strcmp(field->name, "payload") == 0;
    if (str_equal_cstr(value, "null") && !is_payload)
        return PAWL_OK;
    pawl_str text = value;
    pawl_uuid id = uuid_nil();
    pawl_error inner;
    pawl_status status = field->type != INPUT_JSON ? unquote(arena, value, &text, &inner) : PAWL_OK;
    if (status == PAWL_OK && field->type == INPUT_UUID && !uuid_parse(text, &id))
        status = error_set(&inner, PAWL_INVALID, "ndjson", "is \"%.*s\", which is not a UUID", STR_ARG(text));
    if (status != PAWL_OK)
        return error_set(err, status, "ndjson", "%s %s", field->name, inner.text);
    message_input_set(message, field, text, id);
    return PAWL_OK;
}

static pawl_status read_line(struct arena *arena, size_t count, pawl_str line, pawl_outgoing *message,
                             pawl_error *err) {
    pawl_outgoing read = *message;
    TRY(json_check(line, "ndjson", err));
    size_t at = skip_blanks(line, 0);
    if (line.ptr[at] != '{')
        return error_set(err, PAWL_INVALID, "ndjson",
                         "it is JSON but not an object: write {\"type\": …, \"payload\": …}");
    uint32_t seen = 0;
    for (at = skip_blanks(line, at + 1); line.ptr[at] != '}'; at = skip_blanks(line, at)) {
        if (line.ptr[at] == ',')
            at = skip_blanks(line, at + 1);
        size_t key_end = skip_string(line, at);
        pawl_str key = {line.ptr + at + 1, key_end - at - 2};
        at = skip_blanks(line, skip_blanks(line, key_end) + 1);
        size_t end = skip_value(line, at);
        TRY(take_field(arena, count, key, (pawl_str){line.ptr + at, end - at}, &read, err));
        for (size_t i = 0; i < count; i++) {
            if (!str_equal_cstr(key, field_at(i)->name))
                continue;
            if ((seen & (1u << i)) != 0)
                return error_set(err, PAWL_INVALID, "ndjson", "the key \"%s\" is there twice",
                                 field_at(i)->name);
            seen |= 1u << i;
        }
        at = end;
    }
    *message = read;
    return PAWL_OK;
}

pawl_status ndjson_message(struct arena *arena, pawl_str line, pawl_outgoing *message, pawl_error *err) {
    return read_line(arena, message_input_count, line, message, err);
}

pawl_status ndjson_event(struct arena *arena, pawl_str line, pawl_outgoing *message, pawl_error *err) {
    return read_line(arena, message_input_count + 1, line, message, err);
}
