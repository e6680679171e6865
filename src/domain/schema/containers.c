/* The keywords about the items of arrays and the members of objects. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/schema/int.h"

static int compare_items(const void *a, const void *b) {
    return tree_compare(*(const struct tree *const *)a, *(const struct tree *const *)b);
}

bool judge_unique_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    size_t count = frame->value->count;
    if (rule->value->kind != TREE_TRUE || count < 2)
        return true;
    const struct tree **sorted = calloc(count, sizeof(struct tree *));
    if (sorted == NULL) {
        (void)error_no_memory(check->err, "schema_validate");
        return check_give_up(check, PAWL_NO_MEMORY);
    }
    memcpy(sorted, frame->value->items, count * sizeof(struct tree *));
    qsort(sorted, count, sizeof(struct tree *), compare_items);
    bool valid = true;
    for (size_t i = 1; i < count && valid; i++)
        valid = check_step(check) && tree_compare(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return valid || check_fault(check, rule, frame, "its items must differ, but two are equal");
}

/* Applies a schema to one item or member, which counts as evaluated if it fits. */
static bool evaluate(struct check *check, const struct schema_node *node, const struct frame *frame,
                     size_t index) {
    if (!check_part(check, node, frame, index))
        return false;
    marks_set(frame->marks, index);
    return true;
}

/* Applies one schema to the items from `first` on. */
static bool check_items(struct check *check, const struct schema_node *node, const struct frame *frame,
                        size_t first) {
    bool valid = true;
    for (size_t i = first; valid && i < frame->value->count; i++)
        valid = evaluate(check, node, frame, i);
    return valid;
}

bool judge_prefix_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    bool valid = true;
    for (size_t i = 0; valid && i < rule->count && i < frame->value->count; i++)
        valid = evaluate(check, rule->nodes[i], frame, i);
    return valid;
}

bool judge_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (rule->value->kind == TREE_ARRAY)
        return judge_prefix_items(check, rule, frame);
    const struct schema_rule *prefix = schema_rule_of(frame->node, "prefixItems");
    return check_items(check, rule->nodes[0], frame, prefix != NULL ? prefix->count : 0);
}

bool judge_additional_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    const struct schema_rule *items = schema_rule_of(frame->node, "items");
    return items == NULL || items->value->kind != TREE_ARRAY ||
           check_items(check, rule->nodes[0], frame, items->count);
}

bool judge_contains(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    const struct schema_rule *least = schema_rule_of(frame->node, "minContains");
    const struct schema_rule *most = schema_rule_of(frame->node, "maxContains");
    int64_t min = least != NULL ? least->number : 1;
    int64_t found = 0;
    bool explain = check->explain;
    check->explain = false;
    for (size_t i = 0; i < frame->value->count && check->status == PAWL_OK; i++) {
        if (check_part(check, rule->nodes[0], frame, i)) {
            found++;
            if (frame->node->resource->draft == SCHEMA_2020)
                marks_set(frame->marks, i);
        }
    }
    check->explain = explain;
    if (check->status != PAWL_OK)
        return false;
    if (found < min)
        return check_fault(check, rule, frame, "at least %lld of its items must fit, but %lld do",
                           (long long)min, (long long)found);
    return most == NULL || found <= most->number ||
           check_fault(check, most, frame, "at most %lld of its items may fit, but %lld do",
                       (long long)most->number, (long long)found);
}

/* Whether the names are members of the value; those of a present member, which requires them, or of all. */
static bool has_names(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                      const struct tree *names) {
    bool always = names == rule->value;
    for (size_t i = 0; i < names->count; i++) {
        if (!check_step(check))
            return false;
        if (tree_get(frame->value, names->items[i]->text) == NULL)
            return check_fault(check, rule, frame, "'%.*s' is missing%s%.*s%s",
                               STR_ARG(names->items[i]->text), always ? "" : ", which '",
                               STR_ARG(always ? STR("") : names->key), always ? "" : "' needs");
    }
    return true;
}

bool judge_required(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return has_names(check, rule, frame, rule->value);
}

bool judge_dependencies(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; i < rule->count; i++) {
        const struct tree *wanted = rule->value->sorted[i];
        if (tree_get(frame->value, wanted->key) == NULL)
            continue;
        if (rule->nodes[i] != NULL ? !check_node(check, rule->nodes[i], frame)
                                   : !has_names(check, rule, frame, wanted))
            return false;
    }
    return true;
}

bool judge_properties(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    bool valid = true;
    for (size_t i = 0; valid && i < frame->value->count; i++) {
        size_t index = tree_index(rule->value, frame->value->items[i]->key);
        valid = index == rule->count || evaluate(check, rule->nodes[index], frame, i);
    }
    return valid;
}

bool judge_pattern_properties(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    for (size_t i = 0; i < frame->value->count; i++) {
        for (size_t j = 0; j < rule->count; j++) {
            bool fits = check_pattern(check, rule->regexes[j], frame->value->items[i]->key);
            if (check->status != PAWL_OK || (fits && !evaluate(check, rule->nodes[j], frame, i)))
                return false;
        }
    }
    return true;
}

/* Whether properties or patternProperties of the same schema cover a member. */
static bool is_named(struct check *check, const struct frame *frame, pawl_str key) {
    const struct schema_rule *properties = schema_rule_of(frame->node, "properties");
    const struct schema_rule *patterns = schema_rule_of(frame->node, "patternProperties");
    if (properties != NULL && tree_get(properties->value, key) != NULL)
        return true;
    for (size_t i = 0; patterns != NULL && i < patterns->count; i++)
        if (check_pattern(check, patterns->regexes[i], key))
            return true;
    return false;
}

/* One item or member by the schema for the rest of them. */
static bool check_rest(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                       size_t index) {
    if (frame->value->kind == TREE_OBJECT && rule->value->kind == TREE_FALSE)
        return check_fault(check, rule, frame, "'%.*s' is not allowed here",
                           STR_ARG(frame->value->items[index]->key));
    return evaluate(check, rule->nodes[0], frame, index);
}

bool judge_additional_properties(struct check *check, const struct schema_rule *rule,
                                 const struct frame *frame) {
    for (size_t i = 0; i < frame->value->count; i++) {
        bool named = is_named(check, frame, frame->value->items[i]->key);
        if (check->status != PAWL_OK)
            return false;
        if (!named && !check_rest(check, rule, frame, i))
            return false;
    }
    return true;
}

/* unevaluatedItems and unevaluatedProperties. */
bool judge_unevaluated(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; frame->marks != NULL && i < frame->value->count; i++)
        if (!marks_has(frame->marks, i) && !check_rest(check, rule, frame, i))
            return false;
    return true;
}

bool judge_property_names(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; i < frame->value->count; i++) {
        struct tree name = {.kind = TREE_STRING, .nodes = 1, .text = frame->value->items[i]->key};
        struct frame inner = *frame;
        inner.value = &name;
        inner.marks = NULL;
        if (!check_quietly(check, rule->nodes[0], &inner))
            return check->status == PAWL_OK &&
                   check_fault(check, rule, frame, "'%.*s' is not a name that is allowed",
                               STR_ARG(name.text));
    }
    return true;
}
