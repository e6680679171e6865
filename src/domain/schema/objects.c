/* The keywords about objects. */
#include "base/str.h"
#include "domain/schema/int.h"

static bool is_object(const struct frame *frame) { return frame->value->kind == TREE_OBJECT; }

bool judge_max_properties(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return !is_object(frame) || (int64_t)frame->value->count <= rule->number ||
           check_fault(check, rule, frame, "it must have at most %lld members, not %zu",
                       (long long)rule->number, frame->value->count);
}

bool judge_min_properties(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return !is_object(frame) || (int64_t)frame->value->count >= rule->number ||
           check_fault(check, rule, frame, "it must have at least %lld members, not %zu",
                       (long long)rule->number, frame->value->count);
}

bool judge_required(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < rule->value->count; i++) {
        if (!check_step(check))
            return false;
        if (tree_get(frame->value, rule->value->items[i]->text) == NULL)
            return check_fault(check, rule, frame, "'%.*s' is missing", STR_ARG(rule->value->items[i]->text));
    }
    return true;
}

/* Whether the members that a present member requires are there. */
static bool has_names(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                      const struct tree *names) {
    for (size_t i = 0; i < names->count; i++) {
        if (!check_step(check))
            return false;
        if (tree_get(frame->value, names->items[i]->text) == NULL)
            return check_fault(check, rule, frame, "'%.*s' is missing, which '%.*s' needs",
                               STR_ARG(names->items[i]->text), STR_ARG(names->key));
    }
    return true;
}

bool judge_dependent_required(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < rule->value->count; i++) {
        const struct tree *names = rule->value->items[i];
        if (tree_get(frame->value, names->key) != NULL && !has_names(check, rule, frame, names))
            return false;
    }
    return true;
}

bool judge_dependent_schemas(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < rule->count; i++)
        if (tree_get(frame->value, rule->value->sorted[i]->key) != NULL &&
            !check_node(check, rule->nodes[i], frame))
            return false;
    return true;
}

bool judge_dependencies(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < rule->count; i++) {
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
    for (size_t i = 0; is_object(frame) && i < frame->value->count; i++) {
        size_t index = tree_index(rule->value, frame->value->items[i]->key);
        if (index == rule->count)
            continue;
        if (!check_part(check, rule->nodes[index], frame, i))
            return false;
        marks_set(frame->marks, i);
    }
    return true;
}

bool judge_pattern_properties(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < frame->value->count; i++) {
        for (size_t j = 0; j < rule->count; j++) {
            if (!check_pattern(check, rule->regexes[j], frame->value->items[i]->key)) {
                if (check->status != PAWL_OK)
                    return false;
                continue;
            }
            if (!check_part(check, rule->nodes[j], frame, i))
                return false;
            marks_set(frame->marks, i);
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

/* One member by the schema for the rest of them. */
static bool check_rest(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                       size_t index) {
    if (rule->value->kind == TREE_FALSE)
        return check_fault(check, rule, frame, "'%.*s' is not allowed here",
                           STR_ARG(frame->value->items[index]->key));
    if (!check_part(check, rule->nodes[0], frame, index))
        return false;
    marks_set(frame->marks, index);
    return true;
}

bool judge_additional_properties(struct check *check, const struct schema_rule *rule,
                                 const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < frame->value->count; i++) {
        bool named = is_named(check, frame, frame->value->items[i]->key);
        if (check->status != PAWL_OK)
            return false;
        if (!named && !check_rest(check, rule, frame, i))
            return false;
    }
    return true;
}

bool judge_unevaluated_properties(struct check *check, const struct schema_rule *rule,
                                  const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && frame->marks != NULL && i < frame->value->count; i++)
        if (!marks_has(frame->marks, i) && !check_rest(check, rule, frame, i))
            return false;
    return true;
}

bool judge_property_names(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    for (size_t i = 0; is_object(frame) && i < frame->value->count; i++) {
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
