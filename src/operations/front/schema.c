/* JSON Schema of inputs and answers, from the fields and columns of operations. */
#include "operations/front/schema.h"

#include <stdio.h>
#include <string.h>

#include "operations/front/fields.h"

void schema_text(struct json_writer *json, const char *key, const char *value) {
    json_key(json, key);
    json_cstr(json, value);
}

void schema_open(struct json_writer *json, const char *key) {
    json_key(json, key);
    json_begin_object(json);
}

static void choices(struct json_writer *json, const char *list) {
    json_key(json, "enum");
    json_begin_array(json);
    while (*list != '\0') {
        size_t len = strcspn(list, "|");
        json_str(json, (pawl_str){list, len});
        list += list[len] == '|' ? len + 1 : len;
    }
    json_end_array(json);
}

static void bounds(struct json_writer *json, const char *low, const char *high, const struct field *field) {
    if (field->min != 0 || strcmp(low, "minimum") == 0) {
        json_key(json, low);
        json_int(json, field->min);
    }
    if (field->max != 0) {
        json_key(json, high);
        json_int(json, field->max);
    }
}

static void array(struct json_writer *json, const struct field *field, const char *type, const char *format) {
    schema_text(json, "type", "array");
    bounds(json, "minItems", "maxItems", field);
    schema_open(json, "items");
    schema_text(json, "type", type);
    if (format != NULL)
        schema_text(json, "format", format);
    json_end_object(json);
}

void schema_field(struct json_writer *json, const struct field *field, bool described) {
    json_begin_object(json);
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_CURSOR:
        schema_text(json, "type", "string");
        json_key(json, "minLength");
        json_int(json, field->min != 0 ? field->min : 1);
        break;
    case FIELD_INT:
    case FIELD_DURATION:
    case FIELD_TIME:
        schema_text(json, "type", "integer");
        schema_text(json, "format", "int64");
        bounds(json, "minimum", "maximum", field);
        break;
    case FIELD_BOOL:
        schema_text(json, "type", "boolean");
        break;
    case FIELD_UUID:
        schema_text(json, "type", "string");
        schema_text(json, "format", "uuid");
        break;
    case FIELD_ID:
        schema_text(json, "type", "string");
        schema_text(json, "pattern", "^[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}$");
        break;
    case FIELD_CHOICE:
        schema_text(json, "type", "string");
        choices(json, field->choices);
        break;
    case FIELD_JSON:
        break; /* anything */
    case FIELD_OBJECT:
        schema_text(json, "type", "object");
        break;
    case FIELD_TEXTS:
        array(json, field, "string", NULL);
        break;
    case FIELD_INTS:
        array(json, field, "integer", "int64");
        break;
    case FIELD_UUIDS:
        array(json, field, "string", "uuid");
        break;
    case FIELD_OBJECTS:
        array(json, field, "object", NULL);
        break;
    }
    if (described)
        schema_text(json, "description", field->help);
    json_end_object(json);
}

static bool among(const struct field *field, bool body) {
    return body ? field->in == IN_BODY : field->in != IN_TERMINAL;
}

void schema_fields(struct json_writer *json, const struct operation *operation, bool body) {
    const struct field *field;
    bool required = false;
    json_begin_object(json);
    schema_text(json, "type", "object");
    json_key(json, "additionalProperties");
    json_bool(json, false);
    schema_open(json, "properties");
    for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++) {
        if (!among(field, body))
            continue;
        required = required || field->required;
        json_key(json, field->name);
        schema_field(json, field, true);
    }
    json_end_object(json);
    if (required) {
        json_key(json, "required");
        json_begin_array(json);
        for (size_t i = 0; (field = operation_input(operation, i)) != NULL; i++)
            if (field->required && among(field, body))
                json_cstr(json, field->name);
        json_end_array(json);
    }
    json_end_object(json);
}

static void nullable(struct json_writer *json, const char *key, const char *suffix, const char *type,
                     const char *format) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", key, suffix);
    schema_open(json, name);
    if (type != NULL) {
        json_key(json, "type");
        json_begin_array(json);
        json_cstr(json, type);
        json_cstr(json, "null");
        json_end_array(json);
    }
    if (format != NULL)
        schema_text(json, "format", format);
    json_end_object(json);
}

void schema_columns(struct json_writer *json, const struct operation *route) {
    json_begin_object(json);
    schema_text(json, "type", "object");
    schema_open(json, "properties");
    for (size_t i = 0; i < route->column_count; i++) {
        const struct column *column = &route->columns[i];
        switch (column->type) {
        case CELL_TEXT:
            nullable(json, column->key, "", "string", NULL);
            break;
        case CELL_INT:
            nullable(json, column->key, "", "integer", "int64");
            break;
        case CELL_BOOL:
            nullable(json, column->key, "", "boolean", NULL);
            break;
        case CELL_UUID:
            nullable(json, column->key, "", "string", "uuid");
            break;
        case CELL_TIME:
            nullable(json, column->key, "_ms", "integer", "int64");
            nullable(json, column->key, "_at", "string", "date-time");
            break;
        case CELL_DURATION:
            nullable(json, column->key, "_ms", "integer", "int64");
            break;
        case CELL_JSON:
            nullable(json, column->key, "", NULL, NULL);
            break;
        }
    }
    json_end_object(json);
    json_end_object(json);
}

void schema_list(struct json_writer *json, const struct operation *route) {
    json_begin_object(json);
    schema_text(json, "type", "object");
    json_key(json, "required");
    json_begin_array(json);
    json_cstr(json, "items");
    json_cstr(json, "next");
    json_cstr(json, "more");
    json_end_array(json);
    schema_open(json, "properties");
    schema_open(json, "items");
    schema_text(json, "type", "array");
    json_key(json, "items");
    schema_columns(json, route);
    json_end_object(json);
    nullable(json, "next", "", "string", NULL);
    schema_open(json, "more");
    schema_text(json, "type", "boolean");
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
}
