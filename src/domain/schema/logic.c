/* The keywords that combine schemas, and those that refer to others. */
#include "base/str.h"
#include "domain/schema/int.h"
#include "domain/schema/uri.h"

bool judge_all_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
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

bool judge_any_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    /* To know what was evaluated, every matching alternative is needed. */
    size_t fits = count_fits(check, rule, frame, frame->marks != NULL ? rule->count : 1);
    if (check->status != PAWL_OK)
        return false;
    return fits > 0 || check_fault(check, rule, frame, "it fits none of the %zu alternatives", rule->count);
}

bool judge_one_of(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    size_t fits = count_fits(check, rule, frame, 2);
    if (check->status != PAWL_OK)
        return false;
    if (fits == 0)
        return check_fault(check, rule, frame, "it fits none of the %zu alternatives", rule->count);
    return fits == 1 ||
           check_fault(check, rule, frame, "it fits more than one of the %zu alternatives", rule->count);
}

bool judge_not(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
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

bool judge_if(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    bool holds = check_quietly(check, rule->nodes[0], frame);
    if (check->status != PAWL_OK)
        return false;
    const struct schema_rule *branch = schema_rule_of(frame->node, holds ? "then" : "else");
    return branch == NULL || check_node(check, branch->nodes[0], frame);
}

bool judge_ref(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    return check_node(check, rule->nodes[0], frame);
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

bool judge_dynamic_ref(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    const struct schema_node *target = rule->nodes[0];
    pawl_str name = uri_fragment(rule->value->text);
    const struct schema_anchor *anchor =
        name.len > 0 ? schema_find_anchor(check->schema, target->resource, name) : NULL;
    if (anchor != NULL && anchor->dynamic && anchor->node == target)
        target = outermost(check->schema, frame->scope, name, target);
    return check_node(check, target, frame);
}
