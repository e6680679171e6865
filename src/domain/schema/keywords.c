/* The keywords of JSON Schema: the table, and those about values as such, their content and choices. */
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/schema/compile.h"
#include "domain/schema/int.h"

static bool judge_type(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    const struct tree *value = frame->value;
    bool integer = (rule->types & SCHEMA_INTEGER) != 0 && value->kind == TREE_NUMBER;
    if ((rule->types & 1U << value->kind) != 0 || (integer && tree_number_is_integer(value->text)))
        return true;
    if (rule->value->kind == TREE_STRING)
        return check_fault(check, rule, frame, "it must be of type %.*s, not %s", STR_ARG(rule->value->text),
                           tree_kind_name(frame->value->kind));
    return check_fault(check, rule, frame, "it must be of one of %zu types, not %s", rule->value->count,
                       tree_kind_name(frame->value->kind));
}

/* The texts of an enum, cut when they are long. */
static void list_values(const struct tree *values, struct buf *out) {
    for (size_t i = 0; i < values->count && out->len < 120; i++) {
        if (i > 0)
            buf_append_cstr(out, ", ");
        tree_write(out, values->items[i]);
    }
}

static bool judge_enum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; i < rule->value->count; i++) {
        if (!check_step(check))
            return false;
        if (tree_equal(rule->value->items[i], frame->value))
            return true;
    }
    if (!check->explain)
        return false;
    struct buf list;
    buf_init(&list, 0);
    list_values(rule->value, &list);
    bool valid = check_fault(check, rule, frame, "it must be one of: %.150s", list.ptr);
    buf_free(&list);
    return valid;
}

static bool judge_const(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (tree_equal(rule->value, frame->value))
        return true;
    if (!check->explain)
        return false;
    struct buf text;
    buf_init(&text, 0);
    tree_write(&text, rule->value);
    bool valid = check_fault(check, rule, frame, "it must be %.150s", text.ptr);
    buf_free(&text);
    return valid;
}

static bool judge_multiple_of(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    return tree_number_is_multiple(frame->value->text, rule->value->text) ||
           check_fault(check, rule, frame, "it must be a multiple of %.*s", STR_ARG(rule->value->text));
}

/* order: of the value and the limit, as tree_number_compare gives it. */
static bool within(enum schema_limit limit, int order) {
    bool inclusive = limit == LIMIT_AT_MOST || limit == LIMIT_AT_LEAST;
    bool upper = limit == LIMIT_AT_MOST || limit == LIMIT_BELOW;
    return order == 0 ? inclusive : (order < 0) == upper;
}

static const char *const limit_words[] = {"at most", "less than", "at least", "more than"};

static bool judge_size(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    enum schema_limit limit = rule->keyword->limit;
    return within(limit, tree_number_compare(frame->value->text, rule->value->text)) ||
           check_fault(check, rule, frame, "it must be %s %.*s", limit_words[limit],
                       STR_ARG(rule->value->text));
}

/* How many characters, items or members there are. */
static bool judge_count(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    enum schema_limit limit = rule->keyword->limit;
    bool text = frame->value->kind == TREE_STRING;
    int64_t count = (int64_t)(text ? utf8_length(frame->value->text) : frame->value->count);
    if (within(limit, (count > rule->number) - (count < rule->number)))
        return true;
    if (text)
        return check_fault(check, rule, frame, "it must have %s %lld characters", limit_words[limit],
                           (long long)rule->number);
    return check_fault(check, rule, frame, "it must have %s %lld %s, not %lld", limit_words[limit],
                       (long long)rule->number, frame->value->kind == TREE_OBJECT ? "members" : "items",
                       (long long)count);
}

static bool judge_pattern(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return check_pattern(check, rule->regexes[0], frame->value->text) ||
           check_fault(check, rule, frame, "it must match the pattern %.*s", STR_ARG(rule->value->text));
}

static bool judge_format(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    pawl_str text = frame->value->text;
    if (rule->format == NULL)
        return true;
    bool fits = rule->regexes == NULL || check_pattern(check, rule->regexes[0], text);
    return (fits && (rule->format->check == NULL || rule->format->check(text))) ||
           check_fault(check, rule, frame, "it must be a valid %.*s", STR_ARG(rule->value->text));
}

/* With all the digits and signs that it should have. */
static bool decode_whole(pawl_str text, struct buf *out) {
    return text.len % 4 == 0 && base64_decode(out, text);
}

static bool is_base64(const struct schema_rule *rule) {
    return rule != NULL && str_equal_cstr(rule->value->text, "base64");
}

static bool judge_content_encoding(struct check *check, const struct schema_rule *rule,
                                   const struct frame *frame) {
    if (!check->schema->checks_formats || !is_base64(rule))
        return true;
    struct buf decoded;
    buf_init(&decoded, 0);
    bool valid = decode_whole(frame->value->text, &decoded);
    buf_free(&decoded);
    return valid || check_fault(check, rule, frame, "it must be base64");
}

static bool judge_content_media_type(struct check *check, const struct schema_rule *rule,
                                     const struct frame *frame) {
    if (!check->schema->checks_formats || !str_equal_cstr(rule->value->text, "application/json"))
        return true;
    pawl_str text = frame->value->text;
    struct buf decoded;
    buf_init(&decoded, 0);
    if (is_base64(schema_rule_of(frame->node, "contentEncoding"))) {
        /* Text that is not base64 was already refused. */
        if (!decode_whole(text, &decoded))
            text = STR("");
        else
            text = buf_str(&decoded);
    }
    bool valid = json_valid(text, PAWL_JSON_DEPTH_MAX, NULL);
    buf_free(&decoded);
    return valid || check_fault(check, rule, frame, "it must be JSON");
}

static bool judge_all_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; i < rule->count; i++)
        if (!check_node(check, rule->nodes[i], frame))
            return false;
    return true;
}

/* How many alternatives match. Their errors are kept if they are deeper in the value than the choice itself.
 */
static size_t count_fits(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                         size_t enough) {
    size_t fits = 0;
    bool found = check->found;
    for (size_t i = 0; i < rule->count && fits < enough; i++)
        fits += check_node(check, rule->nodes[i], frame) ? 1 : 0;
    if (fits > 0 || check->fault_depth <= frame->depth)
        check->found = found;
    return fits;
}

static bool judge_any_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    /* To know what was evaluated, every matching alternative is needed. */
    size_t fits = count_fits(check, rule, frame, frame->marks != NULL ? rule->count : 1);
    if (check->status != PAWL_OK)
        return false;
    return fits > 0 || check_fault(check, rule, frame, "it fits none of the %zu alternatives", rule->count);
}

static bool judge_one_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    size_t fits = count_fits(check, rule, frame, 2);
    if (check->status != PAWL_OK)
        return false;
    if (fits == 0)
        return check_fault(check, rule, frame, "it fits none of the %zu alternatives", rule->count);
    return fits == 1 ||
           check_fault(check, rule, frame, "it fits more than one of the %zu alternatives", rule->count);
}

static bool judge_not(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    struct frame inner = *frame;
    struct marks marks;
    /* What is evaluated inside does not count outside, but counts inside. */
    marks_init(check, &marks, frame->value->count);
    inner.marks = frame->marks != NULL ? &marks : NULL;
    bool fits = check_quietly(check, rule->nodes[0], &inner);
    marks_free(&marks);
    if (check->status != PAWL_OK)
        return false;
    return !fits || check_fault(check, rule, frame, "it is what it must not be");
}

static bool judge_if(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    bool holds = check_quietly(check, rule->nodes[0], frame);
    if (check->status != PAWL_OK)
        return false;
    const struct schema_rule *branch = schema_rule_of(frame->node, holds ? "then" : "else");
    return branch == NULL || check_node(check, branch->nodes[0], frame);
}

/* The outermost resource entered that has the same dynamic anchor. */
static const struct schema_node *outermost(const struct schema *schema, const struct scope *scope,
                                           pawl_str name, const struct schema_node *fallback) {
    const struct schema_node *found = fallback;
    for (; scope != NULL; scope = scope->outer) {
        const struct schema_anchor *anchor = schema_find_anchor(schema, scope->resource, name);
        if (anchor != NULL && anchor->dynamic)
            found = anchor->node;
    }
    return found;
}

static bool judge_dynamic_ref(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    const struct schema_node *target = rule->nodes[0];
    pawl_str name = uri_fragment(rule->value->text);
    const struct schema_anchor *anchor =
        name.len > 0 ? schema_find_anchor(check->schema, target->resource, name) : NULL;
    if (anchor != NULL && anchor->dynamic && anchor->node == target)
        target = outermost(check->schema, frame->scope, name, target);
    return check_node(check, target, frame);
}

enum {
    BOTH = SCHEMA_DRAFT7 | SCHEMA_2020,
    ANY = (1 << (TREE_OBJECT + 1)) - 1,
    NUMBER = 1 << TREE_NUMBER,
    STRING = 1 << TREE_STRING,
    ARRAY = 1 << TREE_ARRAY,
    OBJECT = 1 << TREE_OBJECT
};

/* In the order in which they are applied. */
const struct schema_keyword schema_keywords[] = {
    {"$ref", BOTH, SHAPE_REFERENCE, false, ANY, judge_all_of, 0},
    {"$dynamicRef", SCHEMA_2020, SHAPE_REFERENCE, false, ANY, judge_dynamic_ref, 0},
    {"$defs", SCHEMA_2020, SHAPE_SCHEMA_MAP, false, ANY, NULL, 0},
    {"definitions", BOTH, SHAPE_SCHEMA_MAP, false, ANY, NULL, 0},
    {"type", BOTH, SHAPE_TYPE, true, ANY, judge_type, 0},
    {"enum", BOTH, SHAPE_ARRAY, true, ANY, judge_enum, 0},
    {"const", BOTH, SHAPE_ANY, true, ANY, judge_const, 0},
    {"multipleOf", BOTH, SHAPE_DIVISOR, true, NUMBER, judge_multiple_of, 0},
    {"maximum", BOTH, SHAPE_NUMBER, true, NUMBER, judge_size, LIMIT_AT_MOST},
    {"exclusiveMaximum", BOTH, SHAPE_NUMBER, true, NUMBER, judge_size, LIMIT_BELOW},
    {"minimum", BOTH, SHAPE_NUMBER, true, NUMBER, judge_size, LIMIT_AT_LEAST},
    {"exclusiveMinimum", BOTH, SHAPE_NUMBER, true, NUMBER, judge_size, LIMIT_ABOVE},
    {"maxLength", BOTH, SHAPE_COUNT, true, STRING, judge_count, LIMIT_AT_MOST},
    {"minLength", BOTH, SHAPE_COUNT, true, STRING, judge_count, LIMIT_AT_LEAST},
    {"pattern", BOTH, SHAPE_PATTERN, true, STRING, judge_pattern, 0},
    {"format", BOTH, SHAPE_FORMAT, false, STRING, judge_format, 0},
    {"contentEncoding", SCHEMA_DRAFT7, SHAPE_STRING, false, STRING, judge_content_encoding, 0},
    {"contentMediaType", SCHEMA_DRAFT7, SHAPE_STRING, false, STRING, judge_content_media_type, 0},
    {"maxItems", BOTH, SHAPE_COUNT, true, ARRAY, judge_count, LIMIT_AT_MOST},
    {"minItems", BOTH, SHAPE_COUNT, true, ARRAY, judge_count, LIMIT_AT_LEAST},
    {"uniqueItems", BOTH, SHAPE_BOOLEAN, true, ARRAY, judge_unique_items, 0},
    {"maxProperties", BOTH, SHAPE_COUNT, true, OBJECT, judge_count, LIMIT_AT_MOST},
    {"minProperties", BOTH, SHAPE_COUNT, true, OBJECT, judge_count, LIMIT_AT_LEAST},
    {"required", BOTH, SHAPE_NAMES, true, OBJECT, judge_required, 0},
    {"dependentRequired", SCHEMA_2020, SHAPE_NAMES_MAP, true, OBJECT, judge_dependencies, 0},
    {"allOf", BOTH, SHAPE_SCHEMAS, false, ANY, judge_all_of, 0},
    {"anyOf", BOTH, SHAPE_SCHEMAS, false, ANY, judge_any_of, 0},
    {"oneOf", BOTH, SHAPE_SCHEMAS, false, ANY, judge_one_of, 0},
    {"not", BOTH, SHAPE_SCHEMA, false, ANY, judge_not, 0},
    {"then", BOTH, SHAPE_SCHEMA, false, ANY, NULL, 0},
    {"else", BOTH, SHAPE_SCHEMA, false, ANY, NULL, 0},
    {"if", BOTH, SHAPE_SCHEMA, false, ANY, judge_if, 0},
    {"dependentSchemas", SCHEMA_2020, SHAPE_SCHEMA_MAP, false, OBJECT, judge_dependencies, 0},
    {"dependencies", BOTH, SHAPE_DEPENDENCIES, false, OBJECT, judge_dependencies, 0},
    {"properties", BOTH, SHAPE_SCHEMA_MAP, false, OBJECT, judge_properties, 0},
    {"patternProperties", BOTH, SHAPE_PATTERN_MAP, false, OBJECT, judge_pattern_properties, 0},
    {"additionalProperties", BOTH, SHAPE_SCHEMA, false, OBJECT, judge_additional_properties, 0},
    {"propertyNames", BOTH, SHAPE_SCHEMA, false, OBJECT, judge_property_names, 0},
    {"prefixItems", SCHEMA_2020, SHAPE_SCHEMAS, false, ARRAY, judge_prefix_items, 0},
    {"items", SCHEMA_DRAFT7, SHAPE_ITEMS, false, ARRAY, judge_items, 0},
    {"items", SCHEMA_2020, SHAPE_SCHEMA, false, ARRAY, judge_items, 0},
    {"additionalItems", SCHEMA_DRAFT7, SHAPE_SCHEMA, false, ARRAY, judge_additional_items, 0},
    {"minContains", SCHEMA_2020, SHAPE_COUNT, true, ANY, NULL, 0},
    {"maxContains", SCHEMA_2020, SHAPE_COUNT, true, ANY, NULL, 0},
    {"contains", BOTH, SHAPE_SCHEMA, false, ARRAY, judge_contains, 0},
    {"contentSchema", SCHEMA_2020, SHAPE_SCHEMA, false, ANY, NULL, 0},
    {"unevaluatedItems", SCHEMA_2020, SHAPE_SCHEMA, false, ARRAY, judge_unevaluated, 0},
    {"unevaluatedProperties", SCHEMA_2020, SHAPE_SCHEMA, false, OBJECT, judge_unevaluated, 0},
};

const size_t schema_keywords_count = sizeof(schema_keywords) / sizeof(schema_keywords[0]);
