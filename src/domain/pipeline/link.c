/* Finds what the steps of a pipeline wait for, refuses circles, and sorts them. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/int.h"

enum wait { WAIT_NOT = 0, WAIT_END = 1, WAIT_SUCCESS = 2 };

/* One step whose needs are collected; or, with step NULL, the pipeline's output. */
struct linker {
    const struct pipeline *pipeline;
    struct pipeline_step *step;
    bool in_arguments; /* of a foreach: item and index exist */
    uint8_t waits[PAWL_PIPELINE_STEPS_MAX];
};

static bool find_step(const struct pipeline *pipeline, pawl_str id, size_t *index) {
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        if (str_equal(pipeline->steps[i].id, id)) {
            *index = i;
            return true;
        }
    }
    return false;
}

static pawl_str id_of(const struct linker *linker) {
    return linker->step != NULL ? linker->step->id : (pawl_str){NULL, 0};
}

static pawl_status link_use(void *self, const struct template_use *use, pawl_error *err) {
    struct linker *linker = self;
    size_t index = 0;
    switch (use->root) {
    case TEMPLATE_ITEM:
    case TEMPLATE_INDEX:
        if (linker->step == NULL || linker->step->foreach == NULL || !linker->in_arguments)
            return pipeline_wrong(use->place, id_of(linker), err,
                                  "%.*s exists only in `with` of a step with foreach", STR_ARG(use->path));
        return PAWL_OK;
    case TEMPLATE_ENV:
        if (use->name.ptr == NULL)
            return pipeline_wrong(use->place, id_of(linker), err, "name a variable: env.NAME");
        return PAWL_OK;
    case TEMPLATE_STEPS:
    case TEMPLATE_STATUS:
        break;
    default:
        return PAWL_OK;
    }
    if (use->name.ptr == NULL)
        return pipeline_wrong(use->place, id_of(linker), err, "name a step: %.*s.ID", STR_ARG(use->path));
    if (!find_step(linker->pipeline, use->name, &index))
        return pipeline_wrong(use->place, id_of(linker), err,
                              "%.*s refers to the step '%.*s', which does not exist", STR_ARG(use->path),
                              STR_ARG(use->name));
    uint8_t wait = use->root == TEMPLATE_STEPS && !use->optional ? WAIT_SUCCESS : WAIT_END;
    if (linker->waits[index] < wait)
        linker->waits[index] = wait;
    if (use->root == TEMPLATE_STATUS && linker->step != NULL && use->optional)
        linker->step->condition_on_status = true;
    return PAWL_OK;
}

static pawl_status add_need(struct linker *linker, const struct tree *name, pawl_error *err) {
    size_t index = 0;
    if (name->kind != TREE_STRING)
        return pipeline_wrong(name, id_of(linker), err, "needs is an id, or a list of ids");
    if (!find_step(linker->pipeline, name->text, &index))
        return pipeline_wrong(name, id_of(linker), err, "needs '%.*s', which is not a step",
                              STR_ARG(name->text));
    linker->waits[index] = WAIT_SUCCESS;
    return PAWL_OK;
}

static pawl_status read_needs(struct linker *linker, const struct tree *document, pawl_error *err) {
    const struct tree *needs = tree_get_cstr(document, "needs");
    if (needs == NULL || needs->kind != TREE_ARRAY)
        return needs == NULL ? PAWL_OK : add_need(linker, needs, err);
    for (size_t i = 0; i < needs->count; i++) {
        pawl_status status = add_need(linker, needs->items[i], err);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static pawl_status link_step(struct arena *arena, struct linker *linker, const struct tree *document,
                             pawl_error *err) {
    struct pipeline_step *step = linker->step;
    size_t count = 0;
    pawl_status status = PAWL_OK;
    /* First the condition: a status in arguments does not decide whether the step runs. */
    if (step->condition.ptr != NULL)
        status = condition_check(step->condition, tree_get_cstr(document, "if"), link_use, linker, err);
    if (status == PAWL_OK && step->foreach != NULL)
        status = template_walk(step->foreach, link_use, linker, err);
    linker->in_arguments = true;
    bool on_status = step->condition_on_status;
    if (status == PAWL_OK)
        status = template_walk(step->with, link_use, linker, err);
    step->condition_on_status = on_status;
    if (status == PAWL_OK)
        status = read_needs(linker, document, err);
    if (status != PAWL_OK)
        return status;
    struct pipeline_need *needs = arena_array(arena, linker->pipeline->steps_count, sizeof(*needs));
    if (needs == NULL)
        return pipeline_no_memory(err);
    for (size_t i = 0; i < linker->pipeline->steps_count; i++)
        if (linker->waits[i] != WAIT_NOT)
            needs[count++] = (struct pipeline_need){i, linker->waits[i] == WAIT_SUCCESS};
    step->needs = needs;
    step->needs_count = count;
    return PAWL_OK;
}

/* Where a walk through the steps is: not reached yet, on the way, done. */
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

static pawl_status report_circle(const struct sorter *sorter, size_t again, pawl_error *err) {
    const struct pipeline_step *steps = sorter->pipeline->steps;
    char path[300] = "";
    size_t first = 0;
    while (sorter->way[first] != again)
        first++;
    for (size_t i = first; i < sorter->depth; i++)
        snprintf(path + strlen(path), sizeof(path) - strlen(path), "%.*s → ",
                 STR_ARG(steps[sorter->way[i]].id));
    struct tree place = {.line = steps[again].line, .column = steps[again].column};
    return pipeline_wrong(&place, (pawl_str){NULL, 0}, err, "the steps wait for each other: %s%.*s", path,
                          STR_ARG(steps[again].id));
}

/* Depth first, without recursion: up to 256 steps may be in one row. */
static pawl_status sort_from(struct sorter *sorter, size_t start, pawl_error *err) {
    sorter->way[0] = start;
    sorter->next[0] = 0;
    sorter->depth = 1;
    sorter->marks[start] = OPEN;
    while (sorter->depth > 0) {
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
            return report_circle(sorter, need, err);
        if (sorter->marks[need] == CLOSED)
            continue;
        sorter->marks[need] = OPEN;
        sorter->way[sorter->depth] = need;
        sorter->next[sorter->depth] = 0;
        sorter->depth++;
    }
    return PAWL_OK;
}

pawl_status pipeline_link(struct arena *arena, struct pipeline *pipeline, struct pipeline_step *steps,
                          const struct tree *const *documents, pawl_error *err) {
    struct sorter *sorter = arena_alloc(arena, sizeof(*sorter));
    size_t *order = arena_array(arena, pipeline->steps_count, sizeof(size_t));
    if (sorter == NULL || order == NULL)
        return pipeline_no_memory(err);
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        struct linker linker = {.pipeline = pipeline, .step = &steps[i]};
        pawl_status status = link_step(arena, &linker, documents[i], err);
        if (status != PAWL_OK)
            return status;
    }
    struct linker output = {.pipeline = pipeline};
    pawl_status status = pipeline->output != NULL ? template_walk(pipeline->output, link_use, &output, err)
                                                  : PAWL_OK;
    *sorter = (struct sorter){.pipeline = pipeline, .order = order};
    for (size_t i = 0; i < pipeline->steps_count && status == PAWL_OK; i++)
        if (sorter->marks[i] == UNSEEN)
            status = sort_from(sorter, i, err);
    pipeline->order = order;
    return status;
}
