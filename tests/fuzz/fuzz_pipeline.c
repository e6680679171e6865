/* Fuzzes pipeline documents in JSON and YAML, templates and conditions, and plays a pipeline to its end. */
#include <string.h>

#include "base/str.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/pipeline.h"
#include "fuzz.h"

enum { RECORDS_MAX = 400 };

/* Whatever is ready is recorded as done or failed: in the end there is an outcome. */
static void play(struct arena *arena, const struct pipeline *pipeline) {
    struct step_record records[RECORDS_MAX];
    struct template_scope context = {0};
    size_t count = 0;
    for (;;) {
        struct pipeline_plan plan;
        pawl_error err;
        pawl_status status = pipeline_plan(arena, pipeline, &context, records, count, &plan, &err);
        if (status == PAWL_NO_MEMORY)
            return;
        must(status == PAWL_OK);
        if (plan.outcome != PIPELINE_RUNNING) {
            must(plan.ready_count == 0);
            return;
        }
        must(plan.ready_count > 0);
        for (size_t i = 0; i < plan.ready_count; i++) {
            if (count == RECORDS_MAX)
                return;
            records[count] = (struct step_record){.step = plan.ready[i].step,
                                                  .item = plan.ready[i].item,
                                                  .state = count % 5 == 4 ? STEP_FAILED : STEP_SUCCEEDED,
                                                  .output = plan.ready[i].with,
                                                  .error = STR("no")};
            count++;
        }
    }
}

static void fuzz_template(struct arena *arena, pawl_str text) {
    struct tree value = {.kind = TREE_STRING, .nodes = 1, .text = text};
    const struct tree *params = NULL;
    const struct tree *filled = NULL;
    pawl_error err;
    must(tree_parse(arena, STR("{\"a\":\"${env.X}\",\"b\":[1,2.50,{\"c\":null}],\"n\":3}"), NULL, &params,
                    &err) == PAWL_OK);
    struct template_scope scope = {.params = params, .steps = params};
    (void)!template_fill(arena, &value, &scope, &filled, &err);
    bool holds = false;
    pawl_status checked = condition_check(text, NULL, NULL, NULL, &err);
    pawl_status answered = condition_holds(arena, text, &scope, &holds, &err);
    must(checked == answered); /* what is a condition always has an answer */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    struct arena *arena = arena_create(64 << 20);
    const struct pipeline *pipeline = NULL;
    pawl_error err;
    if (pipeline_parse(arena, text, PIPELINE_JSON, &pipeline, &err) == PAWL_OK)
        play(arena, pipeline);
    pipeline = NULL;
    if (pipeline_parse(arena, text, PIPELINE_YAML, &pipeline, &err) == PAWL_OK)
        play(arena, pipeline);
    fuzz_template(arena, text);
    arena_free(arena);
    return 0;
}
