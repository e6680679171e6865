/* Reads pipeline documents. */
#include "domain/pipeline/pipeline.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "domain/pipeline/int.h"
#include "domain/schema/schema.h"

enum { ID_BYTES_MAX = 64 };

pawl_status pipeline_wrong(const struct tree *place, pawl_str step, pawl_error *err, const char *fmt, ...) {
    char reason[400];
    char where[60] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    if (place != NULL && place->line > 0)
        snprintf(where, sizeof(where), "line %u, column %u: ", (unsigned)place->line,
                 (unsigned)place->column);
    if (step.ptr == NULL)
        return error_set(err, PAWL_INVALID, "pipeline", "%s%s", where, reason);
    return error_set(err, PAWL_INVALID, "pipeline", "%sstep '%.*s': %s", where, STR_ARG(step), reason);
}

pawl_status pipeline_no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "pipeline", "no memory for a pipeline");
}

static const pawl_str no_step = {NULL, 0};

/* A step that is being read. */
struct reader {
    struct arena *arena;
    const struct tree *document;
    struct pipeline_step *step;
    pawl_error *err;
};

static pawl_status wrong_step(const struct reader *reader, const struct tree *place, const char *why) {
    return pipeline_wrong(place, reader->step->id, reader->err, "%s", why);
}

/* An unknown key is a typo that would go unnoticed. */
static pawl_status check_keys(const struct tree *object, const char *const *keys, pawl_str step,
                              pawl_error *err) {
    const struct tree *stray = tree_stray(object, keys);
    if (stray == NULL)
        return PAWL_OK;
    char list[160];
    str_join(list, sizeof list, keys);
    return pipeline_wrong(stray, step, err, "'%.*s' is not known here: there are %s", STR_ARG(stray->key),
                          list);
}

static bool is_id(pawl_str id) {
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return id.len > 0 && id.len <= ID_BYTES_MAX;
}

static pawl_status read_id(struct reader *reader, size_t number) {
    const struct tree *id = tree_get_cstr(reader->document, "id");
    if (id == NULL) {
        const char *made = arena_printf(reader->arena, "step%zu", number);
        if (made == NULL)
            return pipeline_no_memory(reader->err);
        reader->step->id = str_from(made);
        return PAWL_OK;
    }
    if (id->kind != TREE_STRING || !is_id(id->text))
        return pipeline_wrong(id, no_step, reader->err,
                              "an id has 1 to %d letters, digits, _ or -, and starts with a letter or _",
                              ID_BYTES_MAX);
    reader->step->id = id->text;
    return PAWL_OK;
}

/* A number of seconds, or "90s", "5m". */
static bool read_duration(const struct tree *value, int64_t min_ms, int64_t max_ms, int64_t *duration_ms) {
    int64_t found_ms = 0;
    if (value->kind == TREE_STRING) {
        if (!clock_parse_duration(value->text, &found_ms))
            return false;
    } else if (value->kind == TREE_NUMBER) {
        /* "1.5" reads as 1.5s; exponents are not for durations. */
        char text[32];
        if (value->text.len > 20)
            return false;
        snprintf(text, sizeof(text), "%.*ss", STR_ARG(value->text));
        if (!clock_parse_duration(str_from(text), &found_ms))
            return false;
    } else {
        return false;
    }
    *duration_ms = found_ms;
    return found_ms >= min_ms && found_ms <= max_ms;
}

static pawl_status read_timeout(struct reader *reader) {
    const struct tree *timeout = tree_get_cstr(reader->document, "timeout");
    reader->step->timeout_ms = PAWL_PIPELINE_TIMEOUT_MS_DEFAULT;
    if (timeout != NULL &&
        !read_duration(timeout, 1, PAWL_PIPELINE_TIMEOUT_MS_MAX, &reader->step->timeout_ms))
        return wrong_step(reader, timeout,
                          "timeout is a number of seconds or a text such as \"90s\", at most 24 hours");
    return PAWL_OK;
}

static pawl_status read_attempts(struct reader *reader, const struct tree *attempts) {
    int64_t number = 0;
    if (!tree_to_i64(attempts, &number) || number < 1 || number > PAWL_PIPELINE_ATTEMPTS_MAX)
        return wrong_step(reader, attempts, "retry says how many attempts there are: 1 to 25");
    reader->step->attempts = (int)number;
    return PAWL_OK;
}

static pawl_status read_retry(struct reader *reader) {
    static const char *const keys[] = {"attempts", "base", "max", "jitter", NULL};
    const struct tree *retry = tree_get_cstr(reader->document, "retry");
    struct retry_policy *backoff = &reader->step->backoff;
    reader->step->attempts = 1;
    *backoff = retry_policy_default();
    if (retry == NULL)
        return PAWL_OK;
    if (retry->kind != TREE_OBJECT)
        return read_attempts(reader, retry);
    pawl_status status = check_keys(retry, keys, reader->step->id, reader->err);
    const struct tree *attempts = tree_get_cstr(retry, "attempts");
    if (status == PAWL_OK)
        status = read_attempts(reader, attempts != NULL ? attempts : retry);
    if (status != PAWL_OK)
        return status;
    const struct tree *base = tree_get_cstr(retry, "base");
    const struct tree *max = tree_get_cstr(retry, "max");
    const struct tree *jitter = tree_get_cstr(retry, "jitter");
    if (base != NULL && !read_duration(base, 0, PAWL_RETRY_MS_MAX, &backoff->base_ms))
        return wrong_step(reader, base,
                          "base is a number of seconds or a text such as \"500ms\", at most 7 days");
    if (max != NULL && !read_duration(max, 0, PAWL_RETRY_MS_MAX, &backoff->max_ms))
        return wrong_step(reader, max, "max is a number of seconds or a text such as \"5m\", at most 7 days");
    if (jitter != NULL && jitter->kind != TREE_TRUE && jitter->kind != TREE_FALSE)
        return wrong_step(reader, jitter, "jitter is true or false");
    if (jitter != NULL)
        backoff->jitter = jitter->kind == TREE_TRUE;
    return PAWL_OK;
}

static pawl_status read_condition(struct reader *reader) {
    const struct tree *condition = tree_get_cstr(reader->document, "if");
    if (condition == NULL)
        return PAWL_OK;
    if (condition->kind == TREE_TRUE || condition->kind == TREE_FALSE)
        reader->step->condition = condition->kind == TREE_TRUE ? STR("true") : STR("false");
    else if (condition->kind == TREE_STRING && condition->text.len > 0)
        reader->step->condition = condition->text;
    else
        return wrong_step(reader, condition, "if is a condition such as \"params.count > 3\"");
    return PAWL_OK;
}

static pawl_status read_foreach(struct reader *reader) {
    const struct tree *items = tree_get_cstr(reader->document, "foreach");
    const struct tree *parallel = tree_get_cstr(reader->document, "parallel");
    int64_t number = 0;
    if (parallel != NULL && items == NULL)
        return wrong_step(reader, parallel, "parallel is for a step with foreach");
    if (parallel != NULL &&
        (!tree_to_i64(parallel, &number) || number < 1 || number > PAWL_PIPELINE_FOREACH_MAX))
        return wrong_step(reader, parallel, "parallel is how many items run at a time: 1 to 10000");
    if (items != NULL && items->kind != TREE_ARRAY && items->kind != TREE_STRING)
        return wrong_step(reader, items,
                          "foreach is a list, or a template that gives one, such as ${steps.list.items}");
    reader->step->foreach = items;
    reader->step->foreach_parallel = (int)number;
    return PAWL_OK;
}

static pawl_status read_call(struct reader *reader) {
    static const struct tree nothing = {.kind = TREE_OBJECT, .nodes = 1};
    const struct tree *uses = tree_get_cstr(reader->document, "uses");
    const struct tree *with = tree_get_cstr(reader->document, "with");
    if (uses == NULL || uses->kind != TREE_STRING || uses->text.len == 0 ||
        uses->text.len > PAWL_NAME_BYTES_MAX)
        return wrong_step(reader, uses != NULL ? uses : reader->document, "uses must name the tool to call");
    if (with != NULL && with->kind != TREE_OBJECT)
        return wrong_step(reader, with, "with must be an object: the tool's arguments");
    reader->step->uses = uses->text;
    reader->step->with = with != NULL ? with : &nothing;
    return PAWL_OK;
}

static pawl_status read_step(struct arena *arena, const struct tree *document, size_t number,
                             struct pipeline_step *step, pawl_error *err) {
    static const char *const keys[] = {"id", "name",  "uses",    "with",     "timeout", "retry",
                                       "if", "needs", "foreach", "parallel", NULL};
    struct reader reader = {arena, document, step, err};
    if (document->kind != TREE_OBJECT)
        return pipeline_wrong(document, no_step, err, "a step is an object with uses and with");
    step->line = document->line;
    step->column = document->column;
    pawl_status status = read_id(&reader, number);
    if (status == PAWL_OK)
        status = check_keys(document, keys, step->id, err);
    if (status == PAWL_OK)
        status = read_call(&reader);
    if (status == PAWL_OK)
        status = read_timeout(&reader);
    if (status == PAWL_OK)
        status = read_retry(&reader);
    if (status == PAWL_OK)
        status = read_condition(&reader);
    return status != PAWL_OK ? status : read_foreach(&reader);
}

static pawl_status read_steps(struct arena *arena, const struct tree *list, struct pipeline *pipeline,
                              pawl_error *err) {
    if (list == NULL || list->kind != TREE_ARRAY || list->count == 0)
        return pipeline_wrong(list != NULL ? list : pipeline->document, no_step, err,
                              "a pipeline needs steps: a list with at least one");
    if (list->count > PAWL_PIPELINE_STEPS_MAX)
        return pipeline_wrong(list, no_step, err, "there are %zu steps: at most %d are allowed", list->count,
                              PAWL_PIPELINE_STEPS_MAX);
    struct pipeline_step *steps = arena_array(arena, list->count, sizeof(*steps));
    if (steps == NULL)
        return pipeline_no_memory(err);
    for (size_t i = 0; i < list->count; i++) {
        pawl_status status = read_step(arena, list->items[i], i + 1, &steps[i], err);
        if (status != PAWL_OK)
            return status;
        for (size_t j = 0; j < i; j++)
            if (str_equal(steps[i].id, steps[j].id))
                return pipeline_wrong(list->items[i], no_step, err, "there are two steps with the id '%.*s'",
                                      STR_ARG(steps[i].id));
    }
    pipeline->steps = steps;
    pipeline->steps_count = list->count;
    return pipeline_link(arena, pipeline, steps, list->items, err);
}

static pawl_status read_params(struct pipeline *pipeline, pawl_error *err) {
    const struct tree *params = tree_get_cstr(pipeline->document, "params");
    struct schema *schema = NULL;
    pawl_error reason;
    if (params == NULL)
        return PAWL_OK;
    pawl_status status = schema_compile(params, NULL, &schema, &reason);
    if (status == PAWL_INVALID)
        return pipeline_wrong(params, no_step, err, "params must be a JSON Schema: %s", reason.text);
    if (status != PAWL_OK)
        return pipeline_no_memory(err);
    schema_free(schema);
    pipeline->params = params;
    return PAWL_OK;
}

static pawl_status read_object(struct arena *arena, struct pipeline *pipeline, pawl_error *err) {
    static const char *const keys[] = {"name", "description", "params", "steps", "output", NULL};
    const struct tree *name = tree_get_cstr(pipeline->document, "name");
    pawl_status status = check_keys(pipeline->document, keys, no_step, err);
    if (status != PAWL_OK)
        return status;
    if (name != NULL &&
        (name->kind != TREE_STRING || name->text.len == 0 || name->text.len > PAWL_NAME_BYTES_MAX))
        return pipeline_wrong(name, no_step, err, "name is a text of 1 to %d bytes", PAWL_NAME_BYTES_MAX);
    if (name != NULL)
        pipeline->name = name->text;
    pipeline->output = tree_get_cstr(pipeline->document, "output");
    status = read_params(pipeline, err);
    return status != PAWL_OK ? status
                             : read_steps(arena, tree_get_cstr(pipeline->document, "steps"), pipeline, err);
}

pawl_status pipeline_read(struct arena *arena, const struct tree *document, const struct pipeline **pipeline,
                          pawl_error *err) {
    struct pipeline *made = arena_alloc(arena, sizeof(*made));
    if (made == NULL)
        return pipeline_no_memory(err);
    made->document = document;
    pawl_status status = PAWL_OK;
    if (document->kind == TREE_ARRAY)
        status = read_steps(arena, document, made, err);
    else if (document->kind == TREE_OBJECT)
        status = read_object(arena, made, err);
    else
        status =
            pipeline_wrong(document, no_step, err, "a pipeline is an object with steps, or a list of steps");
    if (status == PAWL_OK)
        *pipeline = made;
    return status;
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
