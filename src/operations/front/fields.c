/* Reading inputs as their fields declare them: from text, or from the members of a JSON object. */
#include "operations/front/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"

enum { ID_PREFIX_MIN = 8 };

static pawl_status wrong(const struct field *field, pawl_error *err, const char *what) {
    return error_set(err, PAWL_INVALID, "http", "%s: it must be %s", field->name, what);
}

static pawl_status check_number(const struct field *field, struct value *value, pawl_error *err) {
    int64_t max = field->max != 0 ? field->max : INT64_MAX;
    if (value->number >= field->min && value->number <= max)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "http", "%s: it must be from %" PRId64 " to %" PRId64, field->name,
                     field->min, max);
}

static pawl_status check_text(const struct field *field, struct value *value, pawl_error *err) {
    int64_t max = field->max != 0 ? field->max : PAWL_METADATA_BYTES_MAX;
    int64_t min = field->min != 0 ? field->min : 1;
    if ((int64_t)value->text.len > max || (int64_t)value->text.len < min)
        return error_set(err, PAWL_INVALID, "http", "%s: it must have %" PRId64 " to %" PRId64 " bytes",
                         field->name, min, max);
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

/* A value from a path or query. */
pawl_status field_from_text(const struct field *field, pawl_str text, struct value *value, pawl_error *err) {
    value->present = true;
    value->text = text;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_CURSOR:
        return check_text(field, value, err);
    case FIELD_INT:
        if (!str_to_i64(text, INT64_MIN, INT64_MAX, &value->number))
            return wrong(field, err, "a whole number");
        return check_number(field, value, err);
    case FIELD_BOOL:
        value->number = str_equal_cstr(text, "true");
        if (value->number == 0 && !str_equal_cstr(text, "false"))
            return wrong(field, err, "true or false");
        return PAWL_OK;
    case FIELD_UUID:
        return uuid_parse(text, &value->uuid) ? PAWL_OK : wrong(field, err, "a UUID");
    case FIELD_ID:
        return id_like(text) ? PAWL_OK : wrong(field, err, "a UUID, or its first 8 or more characters");
    case FIELD_CHOICE:
        value->number = str_choice(field->choices, text);
        return value->number >= 0 ? PAWL_OK
                                  : error_set(err, PAWL_INVALID, "http", "%s: it must be one of %s",
                                              field->name, field->choices);
    default:
        return wrong(field, err, "in the body");
    }
}

static pawl_status check_items(const struct field *field, const struct tree *tree, pawl_error *err) {
    enum tree_kind want = field->type == FIELD_INTS      ? TREE_NUMBER
                          : field->type == FIELD_OBJECTS ? TREE_OBJECT
                                                         : TREE_STRING;
    int64_t max = field->max != 0 ? field->max : PAWL_BATCH_MAX;
    if (tree->kind != TREE_ARRAY)
        return wrong(field, err, "an array");
    if ((int64_t)tree->count < field->min || (int64_t)tree->count > max)
        return error_set(err, PAWL_INVALID, "http", "%s: it must have %" PRId64 " to %" PRId64 " items",
                         field->name, field->min, max);
    for (size_t i = 0; i < tree->count; i++) {
        int64_t number;
        pawl_uuid uuid;
        if (tree->items[i]->kind != want || (want == TREE_NUMBER && !tree_to_i64(tree->items[i], &number)) ||
            (field->type == FIELD_UUIDS && !uuid_parse(tree->items[i]->text, &uuid)))
            return error_set(err, PAWL_INVALID, "http", "%s: item %zu is not %s", field->name, i,
                             want == TREE_NUMBER          ? "a whole number"
                             : want == TREE_OBJECT        ? "an object"
                             : field->type == FIELD_UUIDS ? "a UUID"
                                                          : "text");
    }
    return PAWL_OK;
}

/* A value from a body. */
static pawl_status value_of_tree(const struct field *field, const struct tree *tree, struct value *value,
                                 pawl_error *err) {
    value->present = true;
    value->tree = tree;
    switch (field->type) {
    case FIELD_JSON:
        return PAWL_OK;
    case FIELD_OBJECT:
        return tree->kind == TREE_OBJECT ? PAWL_OK : wrong(field, err, "an object");
    case FIELD_TEXTS:
    case FIELD_INTS:
    case FIELD_UUIDS:
    case FIELD_OBJECTS:
        return check_items(field, tree, err);
    case FIELD_INT:
        if (tree->kind != TREE_NUMBER || !tree_to_i64(tree, &value->number))
            return wrong(field, err, "a whole number");
        return check_number(field, value, err);
    case FIELD_BOOL:
        value->number = tree->kind == TREE_TRUE;
        return tree->kind == TREE_TRUE || tree->kind == TREE_FALSE ? PAWL_OK
                                                                   : wrong(field, err, "true or false");
    default:
        if (tree->kind != TREE_STRING)
            return wrong(field, err, "text");
        return field_from_text(field, tree->text, value, err);
    }
}

const struct field *fields_find(const struct field *fields, size_t count, pawl_str name,
                                enum field_place in) {
    for (size_t i = 0; i < count; i++)
        if (fields[i].in == in && str_equal_cstr(name, fields[i].name))
            return &fields[i];
    return NULL;
}

/* "a, b, c", for the error message. */
void fields_names(const struct field *fields, size_t count, enum field_place in,
                  char names[static FIELDS_NAMES_BYTES]) {
    size_t len = 0;
    names[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (fields[i].in == in && len < FIELDS_NAMES_BYTES - 2)
            len += (size_t)snprintf(names + len, FIELDS_NAMES_BYTES - len, "%s%s", len > 0 ? ", " : "",
                                    fields[i].name);
    if (len == 0)
        snprintf(names, FIELDS_NAMES_BYTES, "none");
}

pawl_status fields_read(const struct tree *object, const char *where, const struct field *fields,
                        size_t count, struct value *values, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < object->count; i++) {
        const struct tree *item = object->items[i];
        const struct field *field = fields_find(fields, count, item->key, IN_BODY);
        if (field == NULL) {
            char names[FIELDS_NAMES_BYTES];
            fields_names(fields, count, IN_BODY, names);
            return error_set(err, PAWL_INVALID, "http", "%s has no field \"%.*s\"; its fields are: %s", where,
                             STR_ARG(item->key), names);
        }
        if (item->kind != TREE_NULL || field->type == FIELD_JSON) /* null means absent */
            status = value_of_tree(field, item, &values[field - fields], err);
    }
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        if (fields[i].in == IN_BODY && fields[i].required && !values[i].present)
            status = error_set(err, PAWL_INVALID, "http", "%s: it is missing", fields[i].name);
    return status;
}
