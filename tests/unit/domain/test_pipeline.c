/* Pipelines: documents, what is wrong with them, and which step may run. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "domain/pipeline/pipeline.h"
#include "domain/schema/schema.h"

static struct arena *arena;

static int make_arena(void **fixture) {
    (void)fixture;
    arena = arena_create(0);
    return arena == NULL ? -1 : 0;
}

static int drop_arena(void **fixture) {
    (void)fixture;
    arena_free(arena);
    return 0;
}

static const struct tree *json(const char *text) {
    const struct tree *tree = NULL;
    pawl_error err;
    if (tree_parse(arena, str_from(text), NULL, &tree, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return tree;
}

static const struct pipeline *parsed(const char *text, enum pipeline_format format) {
    const struct pipeline *pipeline = NULL;
    pawl_error err;
    if (pipeline_parse(arena, str_from(text), format, &pipeline, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return pipeline;
}

static const struct pipeline *yaml(const char *text) { return parsed(text, PIPELINE_YAML); }

static void assert_refused(const char *text, const char *reason) {
    const struct pipeline *pipeline = NULL;
    pawl_error err;
    assert_int_equal(pipeline_parse(arena, str_from(text), PIPELINE_YAML, &pipeline, &err), PAWL_INVALID);
    assert_null(pipeline);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

/* covers: J41 J44 */
TEST(steps_have_tools_arguments_and_defaults) {
    const struct pipeline *list = parsed("[{\"uses\":\"fs.read\",\"with\":{\"path\":\"x\"}},"
                                         "{\"uses\":\"http.get\",\"timeout\":5}]",
                                         PIPELINE_JSON);
    assert_int_equal(list->steps_count, 2);
    assert_string_equal(list->steps[0].id.ptr, "step1");
    assert_true(str_equal_cstr(list->steps[1].uses, "http.get"));
    assert_int_equal(list->steps[0].timeout_ms, 30000);
    assert_int_equal(list->steps[1].timeout_ms, 5000);
    assert_int_equal(list->steps[0].attempts, 1);
    assert_int_equal(list->steps[1].with->count, 0);
    const struct pipeline *full =
        yaml("name: nightly\n"
             "params: {type: object, required: [day]}\n"
             "steps:\n"
             "  - {id: get, uses: http.get, with: {url: 'x?${params.day}'}, timeout: 1.5}\n"
             "  - id: put\n"
             "    uses: db.put\n"
             "    if: length(steps.get.rows) > 0\n"
             "    foreach: ${steps.get.rows}\n"
             "    parallel: 4\n"
             "    with: {row: '${item}', n: '${index}'}\n"
             "    retry: {attempts: 3, base: 100ms, max: 2s, jitter: false}\n"
             "    timeout: 2m\n"
             "  - {id: say, uses: http.get, needs: put}\n"
             "output: ${steps.put}\n");
    assert_true(str_equal_cstr(full->name, "nightly"));
    assert_int_equal(full->steps[0].timeout_ms, 1500);
    assert_int_equal(full->steps[1].timeout_ms, 120000);
    assert_int_equal(full->steps[1].attempts, 3);
    assert_int_equal(full->steps[1].backoff.base_ms, 100);
    assert_int_equal(full->steps[1].backoff.max_ms, 2000);
    assert_false(full->steps[1].backoff.jitter);
    assert_int_equal(full->steps[1].foreach_parallel, 4);
    assert_int_equal(full->steps[1].needs_count, 1); /* named in a template */
    assert_int_equal(full->steps[2].needs[0].step, 1);
    pawl_str tools[3];
    assert_int_equal(pipeline_tools(full, tools, 3), 2);
    assert_true(str_equal_cstr(tools[1], "db.put"));
}

/* covers: J50 */
TEST(documents_that_are_wrong_are_refused_with_their_place) {
    assert_refused("5", "line 1, column 1: a pipeline is an object with steps");
    assert_refused("steps: []", "line 1, column 1: a pipeline needs steps");
    assert_refused("stpes: []",
                   "'stpes' is not known in a pipeline: there are name, description, params, steps, output");
    assert_refused("steps:\n  - with: {}\n", "line 2, column 5: step 'step1': uses must name the tool");
    assert_refused("- uses: a\n  wiht: {}\n",
                   "line 2, column 3: step 'step1': 'wiht' is not known in a step");
    assert_refused("- {uses: a, with: [1]}", "with must be an object");
    assert_refused("- {id: 1a, uses: a}", "an id has 1 to 64 letters");
    assert_refused("- {id: a, uses: a}\n- {id: a, uses: a}\n",
                   "line 2, column 3: there are two steps with the id 'a'");
    assert_refused("- {uses: a, timeout: soon}", "timeout must be a number of seconds");
    assert_refused("- {uses: a, timeout: 0}", "timeout must be a number of seconds");
    assert_refused("- {uses: a, timeout: 2d}", "from 1ms to 1d");
    assert_refused("- {uses: a, retry: 0}", "retry must be a whole number from 1 to 25");
    assert_refused("- {uses: a, retry: {attempts: 2, often: 1}}", "'often' is not known in retry");
    assert_refused("- {uses: a, parallel: 2}", "parallel is for a step with foreach");
    assert_refused("- {uses: a, foreach: 5}", "foreach is a list");
    assert_refused("- {uses: a, if: 'params.x ='}",
                   "line 1, column 13: the condition 'params.x =' is malformed");
    assert_refused("- id: a\n  uses: a\n  with:\n    x: ${steps.b.y}\n",
                   "line 4, column 5: step 'a': steps.b.y refers to the step 'b', which does not exist");
    assert_refused("- {id: a, uses: a, needs: [b]}", "step 'a': needs 'b', which is not a step");
    assert_refused("- {uses: a, with: {x: '${item.y}'}}",
                   "item.y exists only in `with` of a step with foreach");
    assert_refused("- {uses: a, with: {x: '${steps}'}}", "name a step: steps.ID");
    assert_refused("- {uses: a, with: {x: '${params.}'}}", "a name is expected");
    assert_refused("params: {type: 5}\nsteps: [{uses: a}]",
                   "line 1, column 1: params must be a JSON Schema: schema /type");
    assert_refused("a: &a [x]\nsteps: [*a]\n", "'a' is not known in a pipeline");
}

TEST(circles_are_reported_with_their_path) {
    assert_refused("- {id: x, uses: t}\n"
                   "- {id: a, uses: t, needs: [x, b]}\n"
                   "- {id: b, uses: t, with: {v: '${steps.c.out}'}}\n"
                   "- {id: c, uses: t, if: status.a == 'failed'}\n",
                   "line 2, column 3: the steps wait for each other: a → b → c → a");
    assert_refused("- {id: a, uses: t, needs: a}", "the steps wait for each other: a → a");
}

static struct schema *argument_schema;

static pawl_status find_tool(void *self, pawl_str uses, const struct schema **arguments, pawl_error *err) {
    (void)self;
    (void)err;
    if (str_equal_cstr(uses, "nowhere"))
        return PAWL_NOT_FOUND;
    *arguments = str_equal_cstr(uses, "strict") ? argument_schema : NULL;
    return PAWL_OK;
}

static void assert_checked(const char *text, const char *params, const char *reason) {
    static const char *const allowed[] = {"REGION", "HOME"};
    struct pipeline_world world = {
        .params = params != NULL ? json(params) : NULL, .env = allowed, .env_count = 2, .tool = find_tool};
    pawl_error err;
    pawl_status status = pipeline_check(yaml(text), &world, &err);
    if (reason == NULL && status != PAWL_OK)
        fail_msg("%s", err.text);
    if (reason != NULL) {
        assert_int_equal(status, PAWL_INVALID);
        if (strstr(err.text, reason) == NULL)
            fail_msg("%s", err.text);
    }
}

/* Before anything is stored. covers: B4.17 J50 */
TEST(what_is_wrong_is_found_when_work_is_enqueued) {
    pawl_error err;
    assert_int_equal(
        schema_compile_text(STR("{\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"), NULL,
                            &argument_schema, &err),
        PAWL_OK);
    assert_checked("- {uses: any, with: {x: '${params.a.b}', r: '${env.REGION}'}}", "{\"a\":{\"b\":1}}",
                   NULL);
    assert_checked("- uses: any\n  with:\n    x: ${params.a.c}\n", "{\"a\":{\"b\":1}}",
                   "line 3, column 5: step 'step1': ${params.a.c} does not exist in the parameters");
    assert_checked("- {uses: any, with: {x: '${params.c ?? 1}'}}", NULL, NULL);
    assert_checked("- {uses: any, with: {x: '${env.SECRET}'}}", NULL,
                   "the variable 'SECRET' is not among those that pipelines may read");
    assert_checked("- uses: any\n- uses: nowhere\n", NULL,
                   "line 2, column 3: step 'step2': the tool 'nowhere' is not registered");
    assert_checked("- {uses: strict, with: {n: '${params.n}'}}", "{\"n\":5}", NULL);
    assert_checked("- {uses: strict, with: {n: '${params.n}'}}", "{\"n\":\"5\"}",
                   "the arguments do not fit the tool 'strict': /n: it must be of type integer, not string");
    assert_checked("- uses: strict\n", NULL, "'n' is missing");
    assert_checked("- {id: a, uses: any}\n- {uses: strict, with: {n: '${steps.a.n}'}}", NULL, NULL);
    assert_checked("params: {required: [day]}\nsteps: [{uses: any}]", "{}",
                   "parameters: the value: 'day' is missing");
    assert_checked("- uses: any", "[]", "the parameters must be an object");
    assert_checked("- {uses: any, foreach: '${params.list}'}", "{\"list\":5}",
                   "step 'step1': foreach is not a list");
    assert_checked("- {uses: any, foreach: '${params.list}'}", "{\"list\":[5]}", NULL);
    assert_checked("- {uses: any, if: params.list, foreach: '${params.list}'}", "{\"list\":null}", NULL);
    schema_free(argument_schema);
}

/* A task whose parameters come with each job: everything else is looked at all the same. */
TEST(without_parameters_the_rest_is_checked) {
    static const char *const wrong[][2] = {
        {"- {uses: strict, with: {n: five}}", "it must be of type integer"},
        {"- {uses: nowhere}", "is not registered"},
        {"- {uses: any, with: {x: '${env.SECRET}'}}", "is not among those that pipelines may read"}};
    pawl_error err;
    assert_int_equal(schema_compile_text(STR("{\"properties\":{\"n\":{\"type\":\"integer\"}}}"), NULL,
                                         &argument_schema, &err),
                     PAWL_OK);
    struct pipeline_world world = {.params_later = true, .tool = find_tool};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(pipeline_check(yaml(wrong[i][0]), &world, &err), PAWL_INVALID);
        if (strstr(err.text, wrong[i][1]) == NULL)
            fail_msg("%s", err.text);
    }
    const char *fine = "params: {required: [n]}\n"
                       "steps: [{uses: strict, foreach: '${params.list}', with: {n: '${params.n}'}}]";
    assert_int_equal(pipeline_check(yaml(fine), &world, &err), PAWL_OK);
    world.env_any = true;
    assert_int_equal(pipeline_check(yaml(wrong[2][0]), &world, &err), PAWL_OK);
    schema_free(argument_schema);
}

/* A pipeline and what was recorded of it. */
struct play {
    const struct pipeline *pipeline;
    struct template_scope context;
    struct step_record records[50];
    size_t count;
    struct pipeline_plan plan;
};

static void replan(struct play *play) {
    pawl_error err;
    if (pipeline_plan(arena, play->pipeline, &play->context, play->records, play->count, &play->plan, &err) !=
        PAWL_OK)
        fail_msg("%s", err.text);
}

static struct play started(const char *text, const char *params) {
    struct play play = {.pipeline = yaml(text), .context = {.params = json(params)}};
    replan(&play);
    return play;
}

static void record(struct play *play, const char *id, size_t item, enum step_state state,
                   const char *output) {
    size_t step = 0;
    while (!str_equal_cstr(play->pipeline->steps[step].id, id))
        step++;
    for (size_t i = 0; i < play->count; i++)
        if (play->records[i].step == step && play->records[i].item == item)
            play->records[i] = play->records[--play->count];
    play->records[play->count++] =
        (struct step_record){.step = step,
                             .item = item,
                             .state = state,
                             .output = state == STEP_SUCCEEDED ? json(output) : NULL,
                             .error = state == STEP_FAILED ? str_from(output) : (pawl_str){NULL, 0}};
    replan(play);
}

/* "a b:2" for step a and item 2 of step b, then the outcome. */
static void assert_plan(const struct play *play, const char *expected) {
    char found[300] = "";
    for (size_t i = 0; i < play->plan.ready_count; i++) {
        const struct pipeline_step *step = &play->pipeline->steps[play->plan.ready[i].step];
        size_t length = strlen(found);
        if (step->foreach != NULL)
            snprintf(found + length, sizeof(found) - length, "%.*s:%zu ", STR_ARG(step->id),
                     play->plan.ready[i].item);
        else
            snprintf(found + length, sizeof(found) - length, "%.*s ", STR_ARG(step->id));
    }
    static const char *const outcomes[] = {"running", "succeeded", "failed"};
    strncat(found, outcomes[play->plan.outcome], sizeof(found) - strlen(found) - 1);
    assert_string_equal(found, expected);
}

static void assert_json(const struct tree *tree, const char *text) {
    struct buf buf;
    buf_init(&buf, 0);
    tree_write(&buf, tree);
    assert_string_equal(buf.ptr, text);
    buf_free(&buf);
}

/* covers: J46 */
TEST(steps_run_when_what_they_need_is_there) {
    struct play play = started("- {id: a, uses: t, with: {p: '${params.p}'}}\n"
                               "- {id: b, uses: t}\n"
                               "- {id: c, uses: t, with: {sum: '${steps.a.n}', b: '${steps.b}'}}\n",
                               "{\"p\":[1]}");
    assert_plan(&play, "a b running");
    assert_json(play.plan.ready[0].with, "{\"p\":[1]}");
    record(&play, "a", 0, STEP_RUNNING, NULL);
    assert_plan(&play, "b running");
    record(&play, "a", 0, STEP_SUCCEEDED, "{\"n\":7}");
    record(&play, "b", 0, STEP_SUCCEEDED, "\"x\"");
    assert_plan(&play, "c running");
    assert_json(play.plan.ready[0].with, "{\"sum\":7,\"b\":\"x\"}");
    record(&play, "c", 0, STEP_SUCCEEDED, "null");
    assert_plan(&play, "succeeded");
    assert_json(play.plan.output, "{\"a\":{\"n\":7},\"b\":\"x\",\"c\":null}");
}

TEST(failures_skip_what_depends_on_them) {
    struct play play = started("- {id: a, uses: t}\n"
                               "- {id: b, uses: t, needs: a}\n"
                               "- {id: c, uses: t, needs: b}\n"
                               "- {id: other, uses: t}\n"
                               "- {id: tidy, uses: t, needs: b, if: \"status.a == 'failed'\"}\n"
                               "- {id: soft, uses: t, with: {v: '${steps.a.n ?? 0}'}}\n",
                               "{}");
    record(&play, "a", 0, STEP_FAILED, "disk full");
    assert_plan(&play, "other tidy soft running");
    assert_json(play.plan.ready[2].with, "{\"v\":0}");
    assert_int_equal(play.plan.states[2], STEP_SKIPPED);
    assert_string_equal(play.plan.reasons[1], "it needs 'a', which failed");
    assert_string_equal(play.plan.reasons[2], "it needs 'b', which was skipped");
    record(&play, "other", 0, STEP_SUCCEEDED, "1");
    record(&play, "tidy", 0, STEP_SUCCEEDED, "2");
    record(&play, "soft", 0, STEP_SUCCEEDED, "3");
    assert_plan(&play, "failed");
    assert_string_equal(play.plan.error, "step 'a': disk full");
}

TEST(conditions_choose) {
    struct play play = started("steps:\n"
                               "  - {id: yes, uses: t, if: params.n > 2}\n"
                               "  - {id: no, uses: t, if: params.n > 3}\n"
                               "  - {id: after, uses: t, needs: no}\n"
                               "output: {got: '${steps.yes}', missed: '${steps.no ?? false}'}\n",
                               "{\"n\":3}");
    assert_plan(&play, "yes running");
    assert_string_equal(play.plan.reasons[1], "its condition does not hold");
    assert_string_equal(play.plan.reasons[2], "it needs 'no', which was skipped");
    record(&play, "yes", 0, STEP_SUCCEEDED, "5");
    assert_plan(&play, "succeeded");
    assert_json(play.plan.output, "{\"got\":5,\"missed\":false}");
}

TEST(foreach_runs_once_per_item) {
    struct play play =
        started("- {id: all, uses: t, foreach: '${params.list}', parallel: 2, with: {v: '${item.k}', i: "
                "'${index}'}}\n"
                "- {id: end, uses: t, with: {sum: '${steps.all}'}}\n",
                "{\"list\":[{\"k\":\"a\"},{\"k\":\"b\"},{\"k\":\"c\"}]}");
    assert_plan(&play, "all:0 all:1 running");
    assert_json(play.plan.ready[1].with, "{\"v\":\"b\",\"i\":1}");
    record(&play, "all", 0, STEP_RUNNING, NULL);
    assert_plan(&play, "all:1 running");
    record(&play, "all", 1, STEP_SUCCEEDED, "\"B\"");
    assert_plan(&play, "all:2 running");
    record(&play, "all", 2, STEP_SUCCEEDED, "\"C\"");
    assert_plan(&play, "running");
    record(&play, "all", 0, STEP_SUCCEEDED, "\"A\"");
    assert_plan(&play, "end running");
    assert_json(play.plan.ready[0].with, "{\"sum\":[\"A\",\"B\",\"C\"]}");
    struct play failing = started("- {id: all, uses: t, foreach: [1, 2, 3]}\n", "{}");
    record(&failing, "all", 0, STEP_RUNNING, NULL);
    record(&failing, "all", 1, STEP_FAILED, "no");
    assert_plan(&failing, "running");
    record(&failing, "all", 0, STEP_SUCCEEDED, "1");
    assert_plan(&failing, "failed");
    struct play empty = started("- {id: all, uses: t, foreach: []}\n", "{}");
    assert_plan(&empty, "succeeded");
    assert_json(empty.plan.output, "{\"all\":[]}");
    struct play none = started("- {id: all, uses: t, foreach: '${params.x}'}\n", "{\"x\":5}");
    assert_plan(&none, "failed");
    assert_string_equal(none.plan.error, "step 'all': foreach is not a list");
}

TEST(arguments_that_cannot_be_filled_fail_the_step) {
    struct play play =
        started("- {id: a, uses: t}\n- {id: b, uses: t, with: {x: '${steps.a.rows[3]}'}}\n", "{}");
    record(&play, "a", 0, STEP_SUCCEEDED, "{\"rows\":[1]}");
    assert_plan(&play, "failed");
    assert_string_equal(play.plan.error,
                        "step 'b': line 2, column 27: ${steps.a.rows[3]} does not exist: there is no '3'");
}

/* The same records give the same plan, in whatever order they come: that is what a resumed job relies on. */
TEST(a_plan_depends_on_the_records_alone) {
    struct play play = started(
        "- {id: a, uses: t}\n- {id: b, uses: t, if: run.attempt == 1}\n- {id: c, uses: t, needs: [a, b]}\n",
        "{}");
    play.context.run = json("{\"attempt\":1}");
    replan(&play);
    assert_plan(&play, "a b running");
    record(&play, "a", 0, STEP_SUCCEEDED, "1");
    record(&play, "b", 0, STEP_SUCCEEDED, "2");
    play.context.run = json("{\"attempt\":2}"); /* b was chosen: its condition is not asked again */
    replan(&play);
    assert_plan(&play, "c running");
    struct step_record swapped = play.records[0];
    play.records[0] = play.records[1];
    play.records[1] = swapped;
    replan(&play);
    assert_plan(&play, "c running");
}

TEST(two_hundred_and_fifty_six_steps_in_a_row) {
    struct buf text;
    buf_init(&text, 0);
    for (int i = 0; i < 256; i++)
        buf_printf(&text, i < 255 ? "- {id: s%d, uses: t, needs: s%d}\n" : "- {id: s%d, uses: t}\n", i,
                   i + 1);
    const struct pipeline *pipeline = yaml(text.ptr);
    assert_int_equal(pipeline->order[0], 255);
    assert_int_equal(pipeline->order[255], 0);
    buf_append_cstr(&text, "- uses: t\n");
    assert_refused(text.ptr, "there are 257 steps: at most 256 are allowed");
    buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_have_tools_arguments_and_defaults, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(documents_that_are_wrong_are_refused_with_their_place, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(circles_are_reported_with_their_path, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_found_when_work_is_enqueued, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(without_parameters_the_rest_is_checked, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(steps_run_when_what_they_need_is_there, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(failures_skip_what_depends_on_them, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(conditions_choose, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(foreach_runs_once_per_item, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(arguments_that_cannot_be_filled_fail_the_step, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(a_plan_depends_on_the_records_alone, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(two_hundred_and_fifty_six_steps_in_a_row, make_arena, drop_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
