/* The keywords about a value as such, numbers and strings. */
#include "base/str.h"
#include "base/utf8.h"
#include "domain/schema/int.h"

static unsigned type_of(const struct tree *value) {
    switch (value->kind) {
    case TREE_NULL:
        return TYPE_NULL;
    case TREE_FALSE:
    case TREE_TRUE:
        return TYPE_BOOLEAN;
    case TREE_NUMBER:
        return TYPE_NUMBER | (tree_number_is_integer(value->text) ? TYPE_INTEGER : 0);
    case TREE_STRING:
        return TYPE_STRING;
    case TREE_ARRAY:
        return TYPE_ARRAY;
    default:
        return TYPE_OBJECT;
    }
}

bool judge_type(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if ((type_of(frame->value) & rule->types) != 0)
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

bool judge_enum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
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

bool judge_const(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
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

bool judge_multiple_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_NUMBER ||
           tree_number_is_multiple(frame->value->text, rule->value->text) ||
           check_fault(check, rule, frame, "it must be a multiple of %.*s", STR_ARG(rule->value->text));
}

static int compare(const struct schema_rule *rule, const struct frame *frame) {
    return tree_number_compare(frame->value->text, rule->value->text);
}

bool judge_maximum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_NUMBER || compare(rule, frame) <= 0 ||
           check_fault(check, rule, frame, "it must be at most %.*s", STR_ARG(rule->value->text));
}

bool judge_exclusive_maximum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_NUMBER || compare(rule, frame) < 0 ||
           check_fault(check, rule, frame, "it must be less than %.*s", STR_ARG(rule->value->text));
}

bool judge_minimum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_NUMBER || compare(rule, frame) >= 0 ||
           check_fault(check, rule, frame, "it must be at least %.*s", STR_ARG(rule->value->text));
}

bool judge_exclusive_minimum(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_NUMBER || compare(rule, frame) > 0 ||
           check_fault(check, rule, frame, "it must be more than %.*s", STR_ARG(rule->value->text));
}

/* In characters, not bytes. */
static int64_t length_of(pawl_str text) {
    int64_t length = 0;
    for (size_t i = 0; i < text.len; i++)
        length += ((unsigned char)text.ptr[i] & 0xC0) != 0x80 ? 1 : 0;
    return length;
}

bool judge_max_length(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_STRING || length_of(frame->value->text) <= rule->number ||
           check_fault(check, rule, frame, "it must have at most %lld characters", (long long)rule->number);
}

bool judge_min_length(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_STRING || length_of(frame->value->text) >= rule->number ||
           check_fault(check, rule, frame, "it must have at least %lld characters", (long long)rule->number);
}

bool judge_pattern(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return frame->value->kind != TREE_STRING || check_pattern(check, rule->regexes[0], frame->value->text) ||
           check_fault(check, rule, frame, "it must match the pattern %.*s", STR_ARG(rule->value->text));
}

bool judge_format(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    pawl_str text = frame->value->text;
    if (rule->format == NULL || frame->value->kind != TREE_STRING)
        return true;
    bool fits = rule->regexes == NULL || check_pattern(check, rule->regexes[0], text);
    return (fits && (rule->format->check == NULL || rule->format->check(text))) ||
           check_fault(check, rule, frame, "it must be a valid %.*s", STR_ARG(rule->value->text));
}
