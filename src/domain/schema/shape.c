/* Checks the form of each keyword's value, and prepares it for validation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/schema/compile.h"

static pawl_status wrong(const struct compile *compile, const struct schema_rule *rule, const char *why) {
    return compile_wrong(compile, rule->owner->place, rule->keyword->name, why);
}

static pawl_status make_room(struct compile *compile, struct schema_rule *rule, size_t count) {
    rule->count = count;
    rule->nodes = arena_array(compile->schema->arena, count, sizeof(struct schema_node *));
    return rule->nodes == NULL ? error_no_memory(compile->err, "schema_compile") : PAWL_OK;
}

static pawl_status one_schema(struct compile *compile, struct schema_rule *rule) {
    pawl_status status = make_room(compile, rule, 1);
    if (status != PAWL_OK)
        return status;
    const char *name = rule->keyword->name;
    if (strncmp(name, "unevaluated", 11) == 0)
        compile->schema->tracks = true;
    pawl_str place = compile_place(compile, rule->owner->place, str_from(name));
    return compile_node(compile, rule->value, rule->owner->resource, place, &rule->nodes[0]);
}

/* Members are numbered in the order of their keys, so that they can be found by key. */
static const struct tree *child(const struct schema_rule *rule, size_t index) {
    return rule->value->kind == TREE_OBJECT ? rule->value->sorted[index] : rule->value->items[index];
}

/* The item's node in rule->nodes. */
static pawl_status item_schema(struct compile *compile, struct schema_rule *rule, size_t index) {
    const struct tree *item = child(rule, index);
    char number[24];
    snprintf(number, sizeof(number), "%zu", index);
    pawl_str step = rule->value->kind == TREE_OBJECT ? item->key : str_from(number);
    pawl_str place = compile_place(compile, rule->owner->place, str_from(rule->keyword->name));
    if (place.ptr != NULL)
        place = compile_place(compile, place, step);
    return compile_node(compile, item, rule->owner->resource, place, &rule->nodes[index]);
}

static pawl_status many_schemas(struct compile *compile, struct schema_rule *rule) {
    pawl_status status = make_room(compile, rule, rule->value->count);
    for (size_t i = 0; i < rule->value->count && status == PAWL_OK; i++)
        status = item_schema(compile, rule, i);
    return status;
}

static pawl_status add_regex(struct compile *compile, const struct schema_rule *rule, pawl_str pattern,
                             const struct regex **kept) {
    struct schema *schema = compile->schema;
    if (schema->regexes_count == schema->regexes_cap) {
        size_t cap = schema->regexes_cap == 0 ? 16 : schema->regexes_cap * 2;
        struct regex **grown = reallocarray(schema->regexes, cap, sizeof(struct regex *));
        if (grown == NULL)
            return error_no_memory(compile->err, "schema_compile");
        schema->regexes = grown;
        schema->regexes_cap = cap;
    }
    struct regex *regex = NULL;
    pawl_error reason;
    pawl_status status = regex_compile(pattern, &regex, &reason);
    if (status == PAWL_INVALID)
        return wrong(compile, rule, reason.text);
    if (status != PAWL_OK)
        return error_no_memory(compile->err, "schema_compile");
    schema->regexes[schema->regexes_count++] = regex;
    *kept = regex;
    return PAWL_OK;
}

static pawl_status one_regex(struct compile *compile, struct schema_rule *rule, pawl_str pattern) {
    rule->regexes = arena_array(compile->schema->arena, 1, sizeof(struct regex *));
    return rule->regexes == NULL ? error_no_memory(compile->err, "schema_compile")
                                 : add_regex(compile, rule, pattern, &rule->regexes[0]);
}

static pawl_status format(struct compile *compile, struct schema_rule *rule) {
    if (compile->schema->checks_formats || rule->owner->resource->checks_formats)
        rule->format = schema_format_find(rule->value->text);
    if (rule->format == NULL || rule->format->pattern == NULL)
        return PAWL_OK;
    return one_regex(compile, rule, str_from(rule->format->pattern));
}

static pawl_status pattern_map(struct compile *compile, struct schema_rule *rule) {
    pawl_status status = many_schemas(compile, rule);
    if (status != PAWL_OK)
        return status;
    rule->regexes = arena_array(compile->schema->arena, rule->count, sizeof(struct regex *));
    if (rule->regexes == NULL)
        return error_no_memory(compile->err, "schema_compile");
    for (size_t i = 0; i < rule->count && status == PAWL_OK; i++)
        status = add_regex(compile, rule, child(rule, i)->key, &rule->regexes[i]);
    return status;
}

static bool is_names(const struct tree *tree) {
    if (tree->kind != TREE_ARRAY)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->items[i]->kind != TREE_STRING)
            return false;
    return true;
}

static pawl_status dependencies(struct compile *compile, struct schema_rule *rule) {
    pawl_status status = make_room(compile, rule, rule->value->count);
    for (size_t i = 0; i < rule->value->count && status == PAWL_OK; i++) {
        if (child(rule, i)->kind != TREE_ARRAY)
            status = item_schema(compile, rule, i);
        else if (!is_names(child(rule, i)))
            status = wrong(compile, rule, "each member is a schema or a list of names");
    }
    return status;
}

static pawl_status names_map(struct compile *compile, struct schema_rule *rule) {
    for (size_t i = 0; i < rule->value->count; i++)
        if (!is_names(rule->value->items[i]))
            return wrong(compile, rule, "each member must be a list of names");
    return make_room(compile, rule, rule->value->count);
}

/* The bits of a type's name; 0 for what is none. */
static unsigned type_bits(pawl_str name) {
    static const struct {
        const char *name;
        unsigned bits;
    } types[] = {{"null", 1 << TREE_NULL},     {"boolean", 1 << TREE_FALSE | 1 << TREE_TRUE},
                 {"number", 1 << TREE_NUMBER}, {"integer", SCHEMA_INTEGER},
                 {"string", 1 << TREE_STRING}, {"array", 1 << TREE_ARRAY},
                 {"object", 1 << TREE_OBJECT}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (str_equal_cstr(name, types[i].name))
            return types[i].bits;
    return 0;
}

static pawl_status types(struct compile *compile, struct schema_rule *rule) {
    bool list = rule->value->kind == TREE_ARRAY;
    size_t count = list ? rule->value->count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct tree *name = list ? rule->value->items[i] : rule->value;
        unsigned bits = name->kind == TREE_STRING ? type_bits(name->text) : 0;
        if (bits == 0)
            return wrong(
                compile, rule,
                "it must be null, boolean, number, integer, string, array or object, or a list of these");
        rule->types |= bits;
    }
    return count > 0 ? PAWL_OK : wrong(compile, rule, "the list is empty");
}

static size_t significant_digits(pawl_str number) {
    size_t digits = 0;
    for (size_t i = 0; i < number.len && number.ptr[i] != 'e' && number.ptr[i] != 'E'; i++)
        if (number.ptr[i] >= '0' && number.ptr[i] <= '9' && (digits > 0 || number.ptr[i] != '0'))
            digits++;
    return digits;
}

static pawl_status count(struct compile *compile, struct schema_rule *rule) {
    if (rule->value->kind != TREE_NUMBER || !tree_number_is_integer(rule->value->text) ||
        tree_number_compare(rule->value->text, STR("0")) < 0)
        return wrong(compile, rule, "it must be a whole number, 0 or more");
    if (!tree_to_i64(rule->value, &rule->number))
        rule->number = INT64_MAX;
    return PAWL_OK;
}

static pawl_status divisor(struct compile *compile, struct schema_rule *rule) {
    if (rule->value->kind != TREE_NUMBER || tree_number_compare(rule->value->text, STR("0")) <= 0)
        return wrong(compile, rule, "it must be a number above 0");
    if (significant_digits(rule->value->text) > 18)
        return wrong(compile, rule, "it may have at most 18 digits");
    return PAWL_OK;
}

static pawl_status reference(struct compile *compile, struct schema_rule *rule) {
    struct pending *made = arena_alloc(compile->schema->arena, sizeof(*made));
    struct schema_rule *kept = arena_alloc(compile->schema->arena, sizeof(*kept));
    pawl_status status = make_room(compile, rule, 1);
    if (status != PAWL_OK || made == NULL || kept == NULL)
        return error_no_memory(compile->err, "schema_compile");
    *kept = *rule;
    *made = (struct pending){rule->owner, rule->nodes, kept, compile->references};
    compile->references = made;
    return PAWL_OK;
}

static pawl_status items(struct compile *compile, struct schema_rule *rule) {
    return rule->value->kind == TREE_ARRAY ? many_schemas(compile, rule) : one_schema(compile, rule);
}

static pawl_status schema_list(struct compile *compile, struct schema_rule *rule) {
    return rule->value->count > 0 ? many_schemas(compile, rule)
                                  : wrong(compile, rule, "it must be a list of schemas, and not empty");
}

static pawl_status names(struct compile *compile, struct schema_rule *rule) {
    return is_names(rule->value) ? PAWL_OK : wrong(compile, rule, "it must be a list of names");
}

static pawl_status pattern(struct compile *compile, struct schema_rule *rule) {
    return one_regex(compile, rule, rule->value->text);
}

static pawl_status boolean(struct compile *compile, struct schema_rule *rule) {
    return rule->value->kind == TREE_TRUE || rule->value->kind == TREE_FALSE
               ? PAWL_OK
               : wrong(compile, rule, "it must be true or false");
}

/* With `otherwise`, the value must be of the kind; then `prepare`, if there is one, checks and prepares it.
 */
static const struct {
    enum tree_kind kind;
    const char *otherwise;
    pawl_status (*prepare)(struct compile *compile, struct schema_rule *rule);
} shapes[] = {
    [SHAPE_ANY] = {0},
    [SHAPE_SCHEMA] = {.prepare = one_schema},
    [SHAPE_SCHEMAS] = {TREE_ARRAY, "it must be a list of schemas, and not empty", schema_list},
    [SHAPE_SCHEMA_MAP] = {TREE_OBJECT, "it must be an object of schemas", many_schemas},
    [SHAPE_PATTERN_MAP] = {TREE_OBJECT, "it must be an object of schemas", pattern_map},
    [SHAPE_ITEMS] = {.prepare = items},
    [SHAPE_DEPENDENCIES] = {TREE_OBJECT, "it must be an object", dependencies},
    [SHAPE_COUNT] = {.prepare = count},
    [SHAPE_NUMBER] = {TREE_NUMBER, "it must be a number", NULL},
    [SHAPE_DIVISOR] = {.prepare = divisor},
    [SHAPE_TYPE] = {.prepare = types},
    [SHAPE_ARRAY] = {TREE_ARRAY, "it must be a list", NULL},
    [SHAPE_NAMES] = {.prepare = names},
    [SHAPE_NAMES_MAP] = {TREE_OBJECT, "it must be an object of lists of names", names_map},
    [SHAPE_PATTERN] = {TREE_STRING, "it must be a regular expression", pattern},
    [SHAPE_BOOLEAN] = {.prepare = boolean},
    [SHAPE_STRING] = {TREE_STRING, "it must be a string", NULL},
    [SHAPE_FORMAT] = {TREE_STRING, "it must be a string", format},
    [SHAPE_REFERENCE] = {TREE_STRING, "it must be a string", reference},
};

pawl_status compile_shape(struct compile *compile, struct schema_rule *rule) {
    enum schema_shape shape = rule->keyword->shape;
    if (shapes[shape].otherwise != NULL && rule->value->kind != shapes[shape].kind)
        return wrong(compile, rule, shapes[shape].otherwise);
    return shapes[shape].prepare != NULL ? shapes[shape].prepare(compile, rule) : PAWL_OK;
}
