/* Reading the values of a request from path, query and body, checked against the fields of its route. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "operations/front/fields.h"
#include "server/http/call.h"
#include "server/http/call_int.h"

/* %XX and + decoded, in the arena. PAWL_INVALID when it is no UTF-8 text. */
static pawl_status decode(struct arena *arena, pawl_str text, bool plus, const char *name, pawl_str *out,
                          pawl_error *err) {
    char *bytes = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    if (bytes == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a parameter");
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return error_set(err, PAWL_INVALID, "http", "%s: a %% is not followed by two hex digits",
                                 name);
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        bytes[len++] = c;
    }
    *out = (pawl_str){bytes, len};
    if (!utf8_valid(*out, false, NULL))
        return error_set(err, PAWL_INVALID, "http", "%s: it is not UTF-8 text", name);
    return PAWL_OK;
}

static pawl_status read_query(struct call *call, const char *query, pawl_error *err) {
    const struct operation *route = call->route;
    while (query != NULL && *query != '\0') {
        size_t len = strcspn(query, "&");
        pawl_str pair = {query, len}, name = pair, value = {"", 0};
        const char *equals = memchr(query, '=', len);
        query += query[len] == '&' ? len + 1 : len;
        if (pair.len == 0)
            continue;
        if (equals != NULL) {
            name.len = (size_t)(equals - pair.ptr);
            value = (pawl_str){equals + 1, len - name.len - 1};
        }
        TRY(decode(call->arena, name, true, "the query", &name, err));
        const struct field *field;
        size_t at = 0;
        while ((field = operation_input(route, at)) != NULL &&
               !(field->in == IN_QUERY && str_equal_cstr(name, field->name)))
            at++;
        if (field == NULL) {
            char names[OPERATION_NAMES_BYTES];
            operation_names(route, IN_QUERY, names);
            return error_set(err, PAWL_INVALID, "http",
                             "there is no parameter \"%.*s\" here; the parameters are: %s", STR_ARG(name),
                             names);
        }
        struct value *into = &call->values[at];
        if (into->present)
            return error_set(err, PAWL_INVALID, "http", "%s is given twice", field->name);
        TRY(decode(call->arena, value, true, field->name, &value, err));
        TRY(field_from_text(field, value, into, err));
    }
    return PAWL_OK;
}

static pawl_status read_path(struct call *call, const struct call_input *input, pawl_error *err) {
    const struct operation *route = call->route;
    size_t part = 0;
    for (size_t i = 0; i < route->field_count; i++) {
        pawl_str text;
        if (route->fields[i].in != IN_PATH || part >= input->part_count)
            continue;
        TRY(decode(call->arena, input->parts[part++], false, route->fields[i].name, &text, err));
        TRY(field_from_text(&route->fields[i], text, &call->values[i], err));
    }
    return PAWL_OK;
}

static pawl_status read_body(struct call *call, pawl_str body, pawl_error *err) {
    const struct tree *tree = NULL;
    if (str_absent(body) || body.len == 0)
        body = STR("{}");
    TRY(tree_parse(call->arena, body, NULL, &tree, err));
    if (tree->kind != TREE_OBJECT)
        return error_set(err, PAWL_INVALID, "http", "the body must be a JSON object");
    return operation_read(call->route, "the body", tree, call->values, err);
}

pawl_status call_read(struct call *call, const struct call_input *input, pawl_error *err) {
    const struct operation *route = call->route;
    const struct field *field;
    call->values = arena_array(call->arena, operation_inputs(route) + 1, sizeof *call->values);
    if (call->values == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for the parameters");
    TRY(read_path(call, input, err));
    TRY(read_query(call, input->query, err));
    call->body = input->body;
    if (route->raw)
        return PAWL_OK;
    if (route->method != METHOD_GET)
        TRY(read_body(call, input->body, err));
    for (size_t i = 0; (field = operation_input(route, i)) != NULL; i++) {
        if (field->required && field->in != IN_TERMINAL && !call->values[i].present)
            return error_set(err, PAWL_INVALID, "http", "%s is missing", field->name);
        else if (field->type == FIELD_CURSOR && call->values[i].present)
            TRY(call_cursor_check(call, &call->values[i], err));
    }
    return PAWL_OK;
}
