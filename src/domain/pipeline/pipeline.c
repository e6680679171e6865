/* Reads pipeline documents. */
#include "domain/pipeline/pipeline.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/int.h"
#include "domain/schema/schema.h"

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
