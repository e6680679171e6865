/* Reads pipeline documents, finds what their steps wait for, refuses cycles, and sorts them. */
#include "domain/pipeline/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/schema/schema.h"

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

/* Finds what each step waits for, refuses cycles, and sorts the steps. steps and the pipeline's other fields
 * are already set. */
static void pipeline_link(struct tree_reader *in, struct pipeline *pipeline, struct pipeline_step *steps) {
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

enum { ID_BYTES_MAX = 64 };

static bool is_id(pawl_str id) {
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!char_is_letter(c) && c != '_' && (i == 0 || (!char_is_digit(c) && c != '-')))
            return false;
    }
    return id.len > 0 && id.len <= ID_BYTES_MAX;
}

static void read_id(struct tree_reader *in, const struct tree *document, size_t number,
                    struct pipeline_step *step) {
    const struct tree *id = tree_get_cstr(document, "id");
    if (id == NULL) {
        step->id = str_from(arena_printf(in->arena, "step%zu", number));
        if (str_absent(step->id))
            tree_no_memory(in);
    } else if (id->kind != TREE_STRING || !is_id(id->text)) {
        tree_wrong(in, id, "an id has 1 to %d letters, digits, _ or -, and starts with a letter or _",
                   ID_BYTES_MAX);
    } else {
        step->id = id->text;
    }
}

static void read_retry(struct tree_reader *in, const struct tree *document, struct pipeline_step *step) {
    static const char *const keys[] = {"attempts", "base", "max", "jitter", NULL};
    const struct tree *retry = tree_get_cstr(document, "retry");
    step->attempts = 1;
    step->backoff = retry_policy_default();
    if (retry == NULL)
        return;
    if (retry->kind != TREE_OBJECT) {
        tree_read_int(in, document, "retry", 1, PAWL_PIPELINE_ATTEMPTS_MAX, &step->attempts);
        return;
    }
    tree_read_keys(in, retry, "retry", keys);
    if (tree_get_cstr(retry, "attempts") == NULL)
        tree_wrong(in, retry, "retry says how many attempts there are: 1 to %d", PAWL_PIPELINE_ATTEMPTS_MAX);
    tree_read_int(in, retry, "attempts", 1, PAWL_PIPELINE_ATTEMPTS_MAX, &step->attempts);
    tree_read_duration(in, retry, "base", 0, PAWL_RETRY_MS_MAX, &step->backoff.base_ms);
    tree_read_duration(in, retry, "max", 0, PAWL_RETRY_MS_MAX, &step->backoff.max_ms);
    tree_read_bool(in, retry, "jitter", &step->backoff.jitter);
}

static void read_condition(struct tree_reader *in, const struct tree *document, struct pipeline_step *step) {
    const struct tree *condition = tree_get_cstr(document, "if");
    if (condition == NULL)
        return;
    if (condition->kind == TREE_TRUE || condition->kind == TREE_FALSE)
        step->condition = condition->kind == TREE_TRUE ? STR("true") : STR("false");
    else if (condition->kind == TREE_STRING && condition->text.len > 0)
        step->condition = condition->text;
    else
        tree_wrong(in, condition, "if is a condition such as \"params.count > 3\"");
}

static void read_foreach(struct tree_reader *in, const struct tree *document, struct pipeline_step *step) {
    const struct tree *items = tree_get_cstr(document, "foreach");
    const struct tree *parallel = tree_get_cstr(document, "parallel");
    if (parallel != NULL && items == NULL)
        tree_wrong(in, parallel, "parallel is for a step with foreach");
    tree_read_int(in, document, "parallel", 1, PAWL_PIPELINE_FOREACH_MAX, &step->foreach_parallel);
    if (items != NULL && items->kind != TREE_ARRAY && items->kind != TREE_STRING)
        tree_wrong(in, items, "foreach is a list, or a template that gives one, such as ${steps.list.items}");
    step->foreach = items;
}

static void read_step(struct tree_reader *in, const struct tree *document, size_t number,
                      struct pipeline_step *step) {
    static const char *const keys[] = {"id", "name",  "uses",    "with",     "timeout", "retry",
                                       "if", "needs", "foreach", "parallel", NULL};
    if (document->kind != TREE_OBJECT) {
        tree_wrong(in, document, "a step is an object with uses and with");
        return;
    }
    step->place = document;
    step->with = &tree_empty;
    step->timeout_ms = PAWL_PIPELINE_TIMEOUT_MS_DEFAULT;
    read_id(in, document, number, step);
    in->step = step->id;
    tree_read_keys(in, document, "a step", keys);
    if (tree_get_cstr(document, "uses") == NULL)
        tree_wrong(in, document, "uses must name the tool to call");
    tree_read_text(in, document, "uses", PAWL_NAME_BYTES_MAX, &step->uses);
    tree_read_object(in, document, "with", &step->with);
    tree_read_duration(in, document, "timeout", 1, PAWL_PIPELINE_TIMEOUT_MS_MAX, &step->timeout_ms);
    read_retry(in, document, step);
    read_condition(in, document, step);
    read_foreach(in, document, step);
    in->step = (pawl_str){NULL, 0};
}

static void read_steps(struct tree_reader *in, const struct tree *list, struct pipeline *pipeline) {
    if (list == NULL || list->kind != TREE_ARRAY || list->count == 0) {
        tree_wrong(in, list != NULL ? list : pipeline->document,
                   "a pipeline needs steps: a list with at least one");
        return;
    }
    if (list->count > PAWL_PIPELINE_STEPS_MAX) {
        tree_wrong(in, list, "there are %zu steps: at most %d are allowed", list->count,
                   PAWL_PIPELINE_STEPS_MAX);
        return;
    }
    struct pipeline_step *steps = arena_array(in->arena, list->count, sizeof(*steps));
    if (steps == NULL) {
        tree_no_memory(in);
        return;
    }
    for (size_t i = 0; in->status == PAWL_OK && i < list->count; i++) {
        read_step(in, list->items[i], i + 1, &steps[i]);
        for (size_t j = 0; j < i; j++)
            if (str_equal(steps[i].id, steps[j].id))
                tree_wrong(in, list->items[i], "there are two steps with the id '%.*s'",
                           STR_ARG(steps[i].id));
    }
    pipeline->steps = steps;
    pipeline->steps_count = list->count;
    if (in->status == PAWL_OK)
        pipeline_link(in, pipeline, steps);
}

static void read_params(struct tree_reader *in, struct pipeline *pipeline) {
    struct schema *schema = NULL;
    pawl_error reason;
    pipeline->params = tree_get_cstr(pipeline->document, "params");
    if (pipeline->params == NULL || in->status != PAWL_OK)
        return;
    pawl_status status = schema_compile(pipeline->params, NULL, &schema, &reason);
    if (status == PAWL_INVALID)
        tree_wrong(in, pipeline->params, "params must be a JSON Schema: %s", reason.text);
    else if (status != PAWL_OK)
        tree_no_memory(in);
    schema_free(schema);
}

pawl_status pipeline_read(struct arena *arena, const struct tree *document, const struct pipeline **pipeline,
                          pawl_error *err) {
    static const char *const keys[] = {"name", "description", "params", "steps", "output", NULL};
    struct tree_reader in = {.arena = arena, .op = "pipeline", .err = err};
    struct pipeline *made = arena_alloc(arena, sizeof(*made));
    if (made == NULL)
        return tree_no_memory(&in);
    made->document = document;
    if (document->kind == TREE_ARRAY) {
        read_steps(&in, document, made);
    } else if (document->kind == TREE_OBJECT) {
        tree_read_keys(&in, document, "a pipeline", keys);
        tree_read_text(&in, document, "name", PAWL_NAME_BYTES_MAX, &made->name);
        made->output = tree_get_cstr(document, "output");
        read_params(&in, made);
        if (in.status == PAWL_OK)
            read_steps(&in, tree_get_cstr(document, "steps"), made);
    } else {
        tree_wrong(&in, document, "a pipeline is an object with steps, or a list of steps");
    }
    if (in.status == PAWL_OK)
        *pipeline = made;
    return in.status;
}

pawl_status pipeline_parse(struct arena *arena, pawl_str text, enum pipeline_format format,
                           const struct pipeline **pipeline, pawl_error *err) {
    const struct tree *document = NULL;
    if (text.len > PAWL_PIPELINE_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "pipeline", "the document has %zu bytes: at most %d are allowed",
                         text.len, PAWL_PIPELINE_BYTES_MAX);
    pawl_status status = format == PIPELINE_YAML ? tree_parse_yaml(arena, text, NULL, &document, err)
                                                 : tree_parse(arena, text, NULL, &document, err);
    return status != PAWL_OK ? status : pipeline_read(arena, document, pipeline, err);
}

size_t pipeline_tools(const struct pipeline *pipeline, pawl_str *tools, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < pipeline->steps_count; i++) {
        size_t first = 0;
        while (!str_equal(pipeline->steps[first].uses, pipeline->steps[i].uses))
            first++;
        if (first < i)
            continue;
        if (tools != NULL && found < count)
            tools[found] = pipeline->steps[i].uses;
        found++;
    }
    return found;
}

const char *step_state_name(enum step_state state) {
    static const char *const names[] = {"waiting", "running", "succeeded", "failed", "skipped"};
    return names[state];
}
