/* The inputs of an operation, and reading them from text, from words of a command, or from JSON. */
#include "operations/front/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/schedule_duty.h"

enum { ID_PREFIX_MIN = 8 };

/* ---- Which inputs there are */

static const struct field page_fields[] = {
    {INT_FIELD(IN_QUERY, "limit", 1, PAWL_HTTP_LIST_MAX, "At most this many rows.")},
    {FIELD(FIELD_CURSOR, IN_QUERY, "cursor", "The `next` of the page before."), .max = 4096}};
static const struct field reason_field = {
    TEXT_FIELD(IN_BODY, "reason", PAWL_ALERT_SUMMARY_BYTES_MAX, "Why, for the record.")};

static bool has_reason(const struct operation *operation) {
    for (size_t i = 0; i < operation->field_count; i++)
        if (strcmp(operation->fields[i].name, "reason") == 0)
            return true;
    return false;
}

const struct field *operation_input(const struct operation *operation, size_t index) {
    size_t pages = operation->paged >= PAGED ? 2 : operation->paged == PAGED_LIMIT ? 1 : 0;
    if (index < operation->field_count)
        return &operation->fields[index];
    index -= operation->field_count;
    if (index < pages)
        return &page_fields[index];
    bool reason = operation->changes == CHANGES_ACTION && !has_reason(operation);
    return index == pages && reason ? &reason_field : NULL;
}

size_t operation_inputs(const struct operation *operation) {
    size_t count = operation->field_count;
    while (operation_input(operation, count) != NULL)
        count++;
    return count;
}

size_t operation_input_find(const struct operation *operation, const char *name) {
    const struct field *field;
    size_t i = 0;
    while ((field = operation_input(operation, i)) != NULL && strcmp(field->name, name) != 0)
        i++;
    return i;
}

static void value_write(struct buf *buf, const struct field *field, const struct value *value) {
    if (field->many && value->tree != NULL) {
        buf_printf(buf, " %s=", field->name);
        tree_write(buf, value->tree);
        return;
    }
    switch (field->type) {
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
        return;
    case FIELD_INT:
    case FIELD_DURATION:
    case FIELD_TIME:
        buf_printf(buf, " %s=%" PRId64, field->name, value->number);
        return;
    case FIELD_BOOL:
        buf_printf(buf, " %s=%s", field->name, value->number != 0 ? "true" : "false");
        return;
    default:
        buf_printf(buf, " %s=", field->name);
        if (value->tree != NULL)
            tree_write(buf, value->tree);
        else if (!field->file)
            buf_append_str(buf, value->text);
    }
}

bool operation_dry(const struct operation *operation, const struct value *values) {
    return values[operation_input_find(operation, "dry_run")].number != 0; /* one after the last is absent */
}

void operation_asked(const struct operation *operation, const struct value *values, struct buf *buf) {
    const struct field *field;
    for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++)
        if (values[i].present && strcmp(field->name, "yes") != 0)
            value_write(buf, field, &values[i]);
}

/* ---- Reading them */

/* "limit is \"x\", which is not a whole number". */
static pawl_status wrong(const char *label, pawl_str text, const char *what, pawl_error *err) {
    if (str_absent(text))
        return error_set(err, PAWL_INVALID, "input", "%s must be %s", label, what);
    return error_set(err, PAWL_INVALID, "input", "%s is \"%.*s\", which is not %s", label, STR_ARG(text),
                     what);
}

static int64_t number_max(const struct field *field) { return field->max != 0 ? field->max : INT64_MAX; }

static pawl_status check_number(const struct field *field, const char *label, const struct value *value,
                                pawl_error *err) {
    char what[96], least[CLOCK_DURATION_BYTES], most[CLOCK_DURATION_BYTES];
    int64_t max = number_max(field);
    if (value->number >= field->min && value->number <= max)
        return PAWL_OK;
    if (field->type == FIELD_DURATION)
        snprintf(what, sizeof what, "from %s to %s", clock_format_duration(field->min, least),
                 clock_format_duration(max, most));
    else
        snprintf(what, sizeof what, "a whole number from %" PRId64 " to %" PRId64, field->min, max);
    return wrong(label, value->text, what, err);
}

static pawl_status check_empty(const char *label, pawl_str text, pawl_error *err) {
    return text.len > 0
               ? PAWL_OK
               : error_set(err, PAWL_INVALID, "input", "%s is empty: give it a value or leave it out", label);
}

static pawl_status check_text(const struct field *field, const char *label, pawl_str text, pawl_error *err) {
    int64_t max = field->max != 0 ? field->max : PAWL_METADATA_BYTES_MAX;
    int64_t min = field->min != 0 ? field->min : 1;
    if (text.len == 0 && min > 0)
        return check_empty(label, text, err);
    if ((int64_t)text.len > max || (int64_t)text.len < min)
        return error_set(err, PAWL_INVALID, "input", "%s must have %" PRId64 " to %" PRId64 " bytes", label,
                         min, max);
    return PAWL_OK;
}

/* A UUID, or 8 and more of its first characters. */
static bool id_like(pawl_str text) {
    for (size_t i = 0; i < text.len; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? text.ptr[i] != '-' : hex_digit(text.ptr[i]) < 0)
            return false;
    }
    return text.len >= ID_PREFIX_MIN && text.len <= UUID_TEXT_BYTES - 1;
}

static pawl_status from_text(const struct field *field, const char *label, pawl_str text, struct value *value,
                             pawl_error *err) {
    *value = (struct value){.present = true, .text = text};
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_CURSOR:
        return check_text(field, label, text, err);
    case FIELD_INT:
    case FIELD_DURATION:
    case FIELD_TIME:
        if (!str_to_i64(text, INT64_MIN, INT64_MAX, &value->number))
            return wrong(label, text, "a whole number", err);
        return check_number(field, label, value, err);
    case FIELD_BOOL:
        value->number = str_equal_cstr(text, "true");
        return value->number != 0 || str_equal_cstr(text, "false") ? PAWL_OK
                                                                   : wrong(label, text, "true or false", err);
    case FIELD_UUID:
        return uuid_parse(text, &value->uuid)
                   ? PAWL_OK
                   : wrong(label, text, "a UUID: 32 hex digits as 8-4-4-4-12", err);
    case FIELD_ID:
        return id_like(text) ? PAWL_OK
                             : wrong(label, text, "an id: a UUID, or its first 8 or more characters", err);
    case FIELD_CHOICE:
        value->number = str_choice(field->choices, text);
        if (value->number >= 0)
            return PAWL_OK;
        return error_set(err, PAWL_INVALID, "input", "%s is \"%.*s\", which is not one of %s", label,
                         STR_ARG(text), field->choices);
    default:
        return error_set(err, PAWL_INVALID, "input", "%s must be in the body", label);
    }
}

pawl_status field_from_text(const struct field *field, pawl_str text, struct value *value, pawl_error *err) {
    struct value read;
    TRY(from_text(field, field->name, text, &read, err));
    *value = read;
    return PAWL_OK;
}

static pawl_status time_from_word(const char *label, pawl_str text, struct value *value, pawl_error *err) {
    bool ahead = text.len > 0 && text.ptr[0] == '+';
    pawl_str span = ahead ? (pawl_str){text.ptr + 1, text.len - 1} : text;
    const int64_t first_ms = 100000000000; /* 1973: a smaller number is no time, but lacks its unit */
    if (!ahead && schedule_parse_instant(text, &value->number) && value->number >= first_ms)
        return PAWL_OK;
    value->relative = true;
    if (!clock_parse_duration(span, &value->number))
        return wrong(label, text, "a time such as 2026-01-02T03:04:05Z, 36h (ago) or +36h (from now)", err);
    value->number = ahead ? value->number : -value->number;
    return PAWL_OK;
}

static pawl_status from_word(const struct field *field, const char *label, pawl_str text, struct value *value,
                             pawl_error *err) {
    pawl_uuid id;
    *value = (struct value){.present = true, .text = text};
    switch (field->type) {
    case FIELD_DURATION:
        if (!clock_parse_duration(text, &value->number))
            return wrong(label, text, "a duration such as 90s, 36h or 30d", err);
        return check_number(field, label, value, err);
    case FIELD_TIME:
        return time_from_word(label, text, value, err);
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
        return check_empty(label, text, err);
    case FIELD_UUIDS:
        return uuid_parse(text, &id) ? PAWL_OK
                                     : wrong(label, text, "a UUID: 32 hex digits as 8-4-4-4-12", err);
    case FIELD_TEXTS:
    case FIELD_INTS:
        return PAWL_OK;
    default:
        return field->file ? check_empty(label, text, err) : from_text(field, label, text, value, err);
    }
}

pawl_status field_from_word(const struct field *field, const char *label, pawl_str text, struct value *value,
                            pawl_error *err) {
    struct value read;
    TRY(from_word(field, label, text, &read, err));
    *value = read;
    return PAWL_OK;
}

static pawl_status check_items(const struct field *field, const struct tree *tree, pawl_error *err) {
    enum tree_kind want = field->type == FIELD_INTS      ? TREE_NUMBER
                          : field->type == FIELD_OBJECTS ? TREE_OBJECT
                                                         : TREE_STRING;
    int64_t max = field->max != 0 ? field->max : PAWL_BATCH_MAX;
    if (tree->kind != TREE_ARRAY)
        return wrong(field->name, (pawl_str){NULL, 0}, "an array", err);
    if ((int64_t)tree->count < field->min || (int64_t)tree->count > max)
        return error_set(err, PAWL_INVALID, "input", "%s must have %" PRId64 " to %" PRId64 " items",
                         field->name, field->min, max);
    for (size_t i = 0; i < tree->count; i++) {
        int64_t number;
        pawl_uuid uuid;
        if (tree->items[i]->kind != want || (want == TREE_NUMBER && !tree_to_i64(tree->items[i], &number)) ||
            (field->type == FIELD_UUIDS && !uuid_parse(tree->items[i]->text, &uuid)))
            return error_set(err, PAWL_INVALID, "input", "%s: item %zu is not %s", field->name, i,
                             want == TREE_NUMBER          ? "a whole number"
                             : want == TREE_OBJECT        ? "an object"
                             : field->type == FIELD_UUIDS ? "a UUID"
                                                          : "text");
    }
    return PAWL_OK;
}

static pawl_status from_tree(const struct field *field, const struct tree *tree, struct value *value,
                             pawl_error *err) {
    const pawl_str none = {NULL, 0};
    *value = (struct value){.present = true, .tree = tree};
    switch (field->type) {
    case FIELD_JSON:
        return PAWL_OK;
    case FIELD_OBJECT:
        return tree->kind == TREE_OBJECT ? PAWL_OK : wrong(field->name, none, "an object", err);
    case FIELD_TEXTS:
    case FIELD_INTS:
    case FIELD_UUIDS:
    case FIELD_OBJECTS:
        return check_items(field, tree, err);
    case FIELD_INT:
    case FIELD_DURATION:
    case FIELD_TIME:
        if (tree->kind != TREE_NUMBER || !tree_to_i64(tree, &value->number))
            return wrong(field->name, none, "a whole number", err);
        value->text = tree->text;
        value->tree = NULL;
        return check_number(field, field->name, value, err);
    case FIELD_BOOL:
        if (tree->kind != TREE_TRUE && tree->kind != TREE_FALSE)
            return wrong(field->name, none, "true or false", err);
        *value = (struct value){.present = true,
                                .number = tree->kind == TREE_TRUE,
                                .text = tree->kind == TREE_TRUE ? STR("true") : STR("false")};
        return PAWL_OK;
    default:
        return tree->kind == TREE_STRING ? field_from_text(field, tree->text, value, err)
                                         : wrong(field->name, none, "text", err);
    }
}

pawl_status field_from_tree(const struct field *field, const struct tree *tree, struct value *value,
                            pawl_error *err) {
    struct value read;
    TRY(from_tree(field, tree, &read, err));
    *value = read;
    return PAWL_OK;
}

void operation_names(const struct operation *operation, enum field_place in,
                     char names[static OPERATION_NAMES_BYTES]) {
    const struct field *field;
    size_t len = 0;
    snprintf(names, OPERATION_NAMES_BYTES, "none");
    for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++)
        if (field->in == in && len < OPERATION_NAMES_BYTES - 2)
            len += (size_t)snprintf(names + len, OPERATION_NAMES_BYTES - len, "%s%s", len > 0 ? ", " : "",
                                    field->name);
}

pawl_status operation_read(const struct operation *operation, const char *where, const struct tree *object,
                           struct value *values, pawl_error *err) {
    const struct field *field;
    for (size_t i = 0; i < object->count; i++) {
        const struct tree *item = object->items[i];
        size_t at = 0;
        while ((field = operation_input(operation, at)) != NULL &&
               !(field->in == IN_BODY && str_equal_cstr(item->key, field->name)))
            at++;
        if (field == NULL) {
            char names[OPERATION_NAMES_BYTES];
            operation_names(operation, IN_BODY, names);
            return error_set(err, PAWL_INVALID, "input", "%s has no field \"%.*s\"; its fields are: %s",
                             where, STR_ARG(item->key), names);
        }
        if (item->kind != TREE_NULL || field->type == FIELD_JSON) /* null means absent */
            TRY(field_from_tree(field, item, &values[at], err));
    }
    for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++)
        if (field->in == IN_BODY && field->required && !values[i].present)
            return error_set(err, PAWL_INVALID, "input", "%s is missing", field->name);
    return PAWL_OK;
}

pawl_str operation_scope(struct arena *arena, const struct operation *operation, const struct value *values) {
    const struct field *field;
    AUTO_BUF(buf, 0);
    buf_append_cstr(&buf, operation->name);
    for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++)
        if (field->type != FIELD_CURSOR && field->in != IN_BODY && strcmp(field->name, "limit") != 0 &&
            strcmp(field->name, "timeout_ms") != 0 && values[i].present)
            buf_printf(&buf, "\n%s=%.*s", field->name, STR_ARG(values[i].text));
    pawl_str scope = {NULL, 0};
    pawl_error ignored;
    if (buf.failed || str_dup(arena, buf_str(&buf), &scope, &ignored) != PAWL_OK)
        scope = STR("?");
    return scope;
}
