/* Finds what the steps of a pipeline wait for, refuses cycles, and sorts them. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/int.h"

enum wait { WAIT_NOT = 0, WAIT_END = 1, WAIT_SUCCESS = 2 };

/* The step whose needs are being collected; with step NULL, the pipeline's output. */
struct linker {
    struct tree_reader *in;
    const struct pipeline *pipeline;
    struct pipeline_step *step;
    bool in_arguments; /* of a foreach: item and index exist */
    uint8_t waits[PAWL_PIPELINE_STEPS_MAX];
};

static bool find_step(const struct pipeline *pipeline, pawl_str id, size_t *index) {
    for (*index = 0; *index < pipeline->steps_count; ++*index) {
        if (str_equal(pipeline->steps[*index].id, id))
            return true;
    }
    return false;
}

static pawl_status link_step_use(struct linker *linker, const struct template_use *use) {
    size_t index = 0;
    if (use->name.ptr == NULL)
        return tree_wrong(linker->in, use->place, "name a step: %.*s.ID", STR_ARG(use->path));
    if (!find_step(linker->pipeline, use->name, &index))
        return tree_wrong(linker->in, use->place, "%.*s refers to the step '%.*s', which does not exist",
                          STR_ARG(use->path), STR_ARG(use->name));
    uint8_t wait = use->root == TEMPLATE_STEPS && !use->optional ? WAIT_SUCCESS : WAIT_END;
    if (linker->waits[index] < wait)
        linker->waits[index] = wait;
    if (use->root == TEMPLATE_STATUS && linker->step != NULL && use->optional)
        linker->step->condition_on_status = true;
    return PAWL_OK;
}

static pawl_status link_use(void *self, const struct template_use *use, pawl_error *err) {
    struct linker *linker = self;
    (void)err; /* the reader's */
    switch (use->root) {
    case TEMPLATE_ITEM:
    case TEMPLATE_INDEX:
        if (linker->step == NULL || linker->step->foreach == NULL || !linker->in_arguments)
            return tree_wrong(linker->in, use->place, "%.*s exists only in `with` of a step with foreach",
                              STR_ARG(use->path));
        return PAWL_OK;
    case TEMPLATE_ENV:
        return use->name.ptr != NULL ? PAWL_OK
                                     : tree_wrong(linker->in, use->place, "name a variable: env.NAME");
    case TEMPLATE_STEPS:
    case TEMPLATE_STATUS:
        return link_step_use(linker, use);
    default:
        return PAWL_OK;
    }
}

static void link_template(struct linker *linker, const struct tree *value) {
    if (linker->in->status == PAWL_OK && value != NULL)
        linker->in->status = template_walk(value, link_use, linker, linker->in->err);
}

static void add_need(struct linker *linker, const struct tree *name) {
    size_t index = 0;
    if (name->kind != TREE_STRING)
        tree_wrong(linker->in, name, "needs is an id, or a list of ids");
    else if (!find_step(linker->pipeline, name->text, &index))
        tree_wrong(linker->in, name, "needs '%.*s', which is not a step", STR_ARG(name->text));
    else
        linker->waits[index] = WAIT_SUCCESS;
}

static void link_step(struct linker *linker) {
    struct pipeline_step *step = linker->step;
    struct tree_reader *in = linker->in;
    const struct tree *named = tree_get_cstr(step->place, "needs");
    in->step = step->id;
    /* First the condition: a status in arguments does not decide whether the step runs. */
    if (step->condition.ptr != NULL)
        in->status =
            condition_check(step->condition, tree_get_cstr(step->place, "if"), link_use, linker, in->err);
    link_template(linker, step->foreach);
    linker->in_arguments = true;
    bool on_status = step->condition_on_status;
    link_template(linker, step->with);
    step->condition_on_status = on_status;
    if (named != NULL && named->kind != TREE_ARRAY)
        add_need(linker, named);
    for (size_t i = 0; named != NULL && i < named->count; i++)
        add_need(linker, named->items[i]);
    struct pipeline_need *needs = arena_array(in->arena, linker->pipeline->steps_count, sizeof(*needs));
    if (needs == NULL)
        tree_no_memory(in);
    for (size_t i = 0; needs != NULL && i < linker->pipeline->steps_count; i++)
        if (linker->waits[i] != WAIT_NOT)
            needs[step->needs_count++] = (struct pipeline_need){i, linker->waits[i] == WAIT_SUCCESS};
    step->needs = needs;
    in->step = (pawl_str){NULL, 0};
}

/* The state of a step during the walk: not reached, in progress, done. */
enum mark { UNSEEN, OPEN, CLOSED };

struct sorter {
    const struct pipeline *pipeline;
    uint8_t marks[PAWL_PIPELINE_STEPS_MAX];
    size_t way[PAWL_PIPELINE_STEPS_MAX];  /* from the first step to this one */
    size_t next[PAWL_PIPELINE_STEPS_MAX]; /* which need of each comes next */
    size_t depth;
    size_t *order;
    size_t sorted;
};

static void report_circle(const struct sorter *sorter, size_t again, struct tree_reader *in) {
    const struct pipeline_step *steps = sorter->pipeline->steps;
    char path[300] = "";
    size_t first = 0;
    while (sorter->way[first] != again)
        first++;
    for (size_t i = first; i < sorter->depth; i++)
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "%.*s → ",
                 STR_ARG(steps[sorter->way[i]].id));
    tree_wrong(in, steps[again].place, "the steps wait for each other: %s%.*s", path,
               STR_ARG(steps[again].id));
}

/* Depth first, without recursion: a chain may have up to 256 steps. */
static void sort_from(struct sorter *sorter, size_t start, struct tree_reader *in) {
    sorter->way[0] = start;
    sorter->next[0] = 0;
    sorter->depth = 1;
    sorter->marks[start] = OPEN;
    while (sorter->depth > 0 && in->status == PAWL_OK) {
        size_t step = sorter->way[sorter->depth - 1];
        const struct pipeline_step *current = &sorter->pipeline->steps[step];
        if (sorter->next[sorter->depth - 1] == current->needs_count) {
            sorter->marks[step] = CLOSED;
            sorter->order[sorter->sorted++] = step;
            sorter->depth--;
            continue;
        }
        size_t need = current->needs[sorter->next[sorter->depth - 1]++].step;
        if (sorter->marks[need] == OPEN)
            report_circle(sorter, need, in);
        if (sorter->marks[need] != UNSEEN)
            continue;
        sorter->marks[need] = OPEN;
        sorter->way[sorter->depth] = need;
        sorter->next[sorter->depth] = 0;
        sorter->depth++;
    }
}

void pipeline_link(struct tree_reader *in, struct pipeline *pipeline, struct pipeline_step *steps) {
    struct sorter *sorter = arena_alloc(in->arena, sizeof(*sorter));
    size_t *order = arena_array(in->arena, pipeline->steps_count, sizeof(size_t));
    if (sorter == NULL || order == NULL) {
        tree_no_memory(in);
        return;
    }
    for (size_t i = 0; i < pipeline->steps_count && in->status == PAWL_OK; i++)
        link_step(&(struct linker){.in = in, .pipeline = pipeline, .step = &steps[i]});
    link_template(&(struct linker){.in = in, .pipeline = pipeline}, pipeline->output);
    *sorter = (struct sorter){.pipeline = pipeline, .order = order};
    for (size_t i = 0; i < pipeline->steps_count && in->status == PAWL_OK; i++)
        if (sorter->marks[i] == UNSEEN)
            sort_from(sorter, i, in);
    pipeline->order = order;
}
