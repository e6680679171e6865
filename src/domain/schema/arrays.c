/* The keywords about arrays. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/schema/int.h"

static bool is_array(const struct frame *frame) { return frame->value->kind == TREE_ARRAY; }

bool judge_max_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return !is_array(frame) || (int64_t)frame->value->count <= rule->number ||
           check_fault(check, rule, frame, "it must have at most %lld items, not %zu",
                       (long long)rule->number, frame->value->count);
}

bool judge_min_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return !is_array(frame) || (int64_t)frame->value->count >= rule->number ||
           check_fault(check, rule, frame, "it must have at least %lld items, not %zu",
                       (long long)rule->number, frame->value->count);
}

/* Any order in which equal values compare as equal. */
static int compare_values(const struct tree *a, const struct tree *b) {
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == TREE_NUMBER)
        return tree_number_compare(a->text, b->text);
    if (a->kind == TREE_STRING)
        return str_compare(a->text, b->text);
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    int order = 0;
    for (size_t i = 0; i < a->count && order == 0; i++) {
        const struct tree *left = a->kind == TREE_OBJECT ? a->sorted[i] : a->items[i];
        const struct tree *right = a->kind == TREE_OBJECT ? b->sorted[i] : b->items[i];
        order = a->kind == TREE_OBJECT ? str_compare(left->key, right->key) : 0;
        if (order == 0)
            order = compare_values(left, right);
    }
    return order;
}

static int compare_items(const void *a, const void *b) {
    return compare_values(*(const struct tree *const *)a, *(const struct tree *const *)b);
}

bool judge_unique_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    size_t count = frame->value->count;
    if (!is_array(frame) || rule->value->kind != TREE_TRUE || count < 2)
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
        valid = check_step(check) && compare_values(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return valid || check_fault(check, rule, frame, "its items must differ, but two are equal");
}

/* Applies one schema to the items from `first` on. */
static bool check_items(struct check *check, const struct schema_node *node, const struct frame *frame,
                        size_t first) {
    for (size_t i = first; i < frame->value->count; i++) {
        if (!check_part(check, node, frame, i))
            return false;
        marks_set(frame->marks, i);
    }
    return true;
}

bool judge_prefix_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (!is_array(frame))
        return true;
    for (size_t i = 0; i < rule->count && i < frame->value->count; i++) {
        if (!check_part(check, rule->nodes[i], frame, i))
            return false;
        marks_set(frame->marks, i);
    }
    return true;
}

bool judge_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (!is_array(frame))
        return true;
    if (rule->value->kind == TREE_ARRAY)
        return judge_prefix_items(check, rule, frame);
    const struct schema_rule *prefix = schema_rule_of(frame->node, "prefixItems");
    return check_items(check, rule->nodes[0], frame, prefix != NULL ? prefix->count : 0);
}

bool judge_additional_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    const struct schema_rule *items = schema_rule_of(frame->node, "items");
    if (!is_array(frame) || items == NULL || items->value->kind != TREE_ARRAY)
        return true;
    return check_items(check, rule->nodes[0], frame, items->count);
}

bool judge_contains(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (!is_array(frame))
        return true;
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

bool judge_unevaluated_items(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (!is_array(frame) || frame->marks == NULL)
        return true;
    for (size_t i = 0; i < frame->value->count; i++) {
        if (marks_has(frame->marks, i))
            continue;
        if (!check_part(check, rule->nodes[0], frame, i))
            return false;
        marks_set(frame->marks, i);
    }
    return true;
}
