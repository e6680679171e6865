/* Templates, conditions and scopes. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "domain/authority/scope.h"
#include "domain/pipeline/condition.h"
#include "domain/pipeline/template.h"

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

static struct template_scope world(void) {
    return (struct template_scope){
        .params = json(
            "{\"name\":\"Ada\",\"n\":3,\"price\":1.10,\"on\":true,\"none\":null,\"list\":[10,{\"k\":\"v\"}],"
            "\"evil\":\"${env.SECRET} $(rm -rf /) \\\"\",\"a.b\":{\"c d\":1}}"),
        .steps = json("{\"fetch\":{\"body\":{\"id\":9007199254740993}}}"),
        .status = json("{\"fetch\":\"succeeded\",\"clean\":\"failed\"}"),
        .env = json("{\"REGION\":\"eu\"}"),
        .run = json("{\"attempt\":2}"),
    };
}

static void assert_filled(const char *template, const char *result) {
    struct template_scope scope = world();
    const struct tree *filled = NULL;
    pawl_error err;
    struct buf text;
    buf_init(&text, 0);
    if (template_fill(arena, json(template), &scope, &filled, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    tree_write(&text, filled);
    assert_string_equal(text.ptr, result);
    buf_free(&text);
}

static void assert_not_filled(const char *template, const char *reason) {
    struct template_scope scope = world();
    const struct tree *filled = NULL;
    pawl_error err;
    assert_int_equal(template_fill(arena, json(template), &scope, &filled, &err), PAWL_INVALID);
    assert_null(filled);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

/* covers: J42 */
TEST(templates_become_values) {
    assert_filled("{\"a\":\"${params.n}\",\"b\":[\"${params.list}\"],\"c\":\"${steps.fetch.body.id}\"}",
                  "{\"a\":3,\"b\":[[10,{\"k\":\"v\"}]],\"c\":9007199254740993}");
    assert_filled("\"Dear ${params.name}, ${ params.n } of ${params.price} in ${env.REGION}: ${params.on}\"",
                  "\"Dear Ada, 3 of 1.10 in eu: true\"");
    assert_filled("\"${params.list[1].k}${params['a.b'][\\\"c d\\\"]}${params.list.0}\"", "\"v110\"");
    assert_filled("\"$${params.n} costs $5 and $ and {}\"", "\"${params.n} costs $5 and $ and {}\"");
    assert_filled(
        "[\"${params.missing ?? 7}\",\"${params.none ?? 'x'}\",\"${params.n ?? 0}\",\"${params.none}\"]",
        "[7,\"x\",3,null]");
    assert_filled("\"${params}\"",
                  "{\"name\":\"Ada\",\"n\":3,\"price\":1.10,\"on\":true,\"none\":null,\"list\":[10,{\"k\":"
                  "\"v\"}],\"evil\":\"${env.SECRET} $(rm -rf /) \\\"\",\"a.b\":{\"c d\":1}}");
}

/* What is inserted is data: it is never read as a template, a command or JSON. */
TEST(inserted_values_are_never_read_again) {
    assert_filled("{\"x\":\"${params.evil}\",\"y\":\"<${params.evil}>\"}",
                  "{\"x\":\"${env.SECRET} $(rm -rf /) \\\"\",\"y\":\"<${env.SECRET} $(rm -rf /) \\\">\"}");
    assert_filled("{\"${params.name}\":1}", "{\"${params.name}\":1}");
}

TEST(templates_that_cannot_be_filled_say_where_and_why) {
    assert_not_filled("{\n \"a\": \"${params.user.mail}\"}",
                      "line 2, column 2: ${params.user.mail} does not exist: there is no 'user'");
    assert_not_filled("\"${steps.fetch.body.name}\"", "there is no 'name'");
    assert_not_filled("\"${steps.other.x}\"", "there is no 'other'");
    assert_not_filled("\"${item}\"", "${item} exists only inside a foreach");
    assert_not_filled("\"is ${params.list}\"", "${params.list} is array, which cannot be part of a text");
    assert_not_filled("\"is ${params.none}\"", "is null, which cannot be part of a text");
    assert_not_filled("\"${secrets.x}\"", "malformed at position 3: a path starts with params, steps");
    assert_not_filled("\"${params.n\"", "'}' is expected");
    assert_not_filled("\"${params..n}\"", "a name is expected");
    assert_not_filled("\"${params.list[x]}\"", "a number or a key in quotes is expected");
    assert_not_filled("\"${params.n ?? }\"", "a number, true, false, null or text in quotes is expected");
    assert_not_filled("\"${params.n + 1}\"", "'}' is expected");
}

/* A thousand copies of a large parameter must not fill the memory. */
TEST(what_is_filled_has_a_bound) {
    struct buf text;
    buf_init(&text, 0);
    buf_append_cstr(&text, "{\"big\":\"");
    for (int i = 0; i < 2000; i++)
        buf_append_cstr(&text, "0123456789");
    buf_append_cstr(&text, "\"}");
    struct template_scope scope = {.params = json(text.ptr)};
    buf_reset(&text);
    buf_append_cstr(&text, "[0");
    for (int i = 0; i < 1000; i++)
        buf_append_cstr(&text, ",\"${params.big}\"");
    buf_append_cstr(&text, "]");
    const struct tree *filled = NULL;
    pawl_error err;
    assert_int_equal(template_fill(arena, json(text.ptr), &scope, &filled, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "larger than 1048576 bytes"));
    buf_free(&text);
}

static void assert_holds(const char *text, bool expected) {
    struct template_scope scope = world();
    bool holds = !expected;
    pawl_error err;
    if (condition_check(str_from(text), NULL, NULL, NULL, &err) != PAWL_OK ||
        condition_holds(arena, str_from(text), &scope, &holds, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    if (holds != expected)
        fail_msg("%s", text);
}

TEST(conditions_have_answers) {
    assert_holds("params.n == 3", true);
    assert_holds("params.n == 3.0 && params.name != 'ada'", true);
    assert_holds("params.n > 3 || params.n <= 2", false);
    assert_holds("params.n >= 3 && params.n < 4 && params.price <= 1.1", true);
    assert_holds("!(params.on) || false", false);
    assert_holds("!!params.on", true);
    assert_holds("!params.missing", true);
    assert_holds("params.missing == null", true);
    assert_holds("params.missing > 3", false);
    assert_holds("'b' > 'a' && \"b\" >= 'b'", true);
    assert_holds("'3' == params.n", false);
    assert_holds("'3' < params.n || '3' >= params.n", false);
    assert_holds("exists(params.none) && !exists(params.nothing)", true);
    assert_holds("length(params.name) == 3 && length(params.list) == 2 && length(params.n) == 0", true);
    assert_holds("contains(params.name, 'd') && contains(params.list, 10) && contains(params, 'n')", true);
    assert_holds("10 in params.list && !('x' in params.name)", true);
    assert_holds("starts_with(params.name, 'A')", true);
    assert_holds("status.fetch == 'succeeded' && status.clean == 'failed'", true);
    assert_holds("steps.fetch.body.id == 9007199254740993", true);
    assert_holds("steps.fetch.body.id == 9007199254740992", false);
    assert_holds("${params.on}", true);
    assert_holds(" ${ params.n == 4 } ", false);
    assert_holds("true", true);
    assert_holds("null || 0 || '' ", false);
    assert_holds("run.attempt > 1", true);
}

static void assert_bad_condition(const char *text, const char *reason) {
    pawl_error err;
    assert_int_equal(condition_check(str_from(text), NULL, NULL, NULL, &err), PAWL_INVALID);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

TEST(conditions_that_are_none) {
    assert_bad_condition("", "position 1: a value is expected");
    assert_bad_condition("params.n =", "position 10: this is not expected here");
    assert_bad_condition("params.n == ", "a value is expected");
    assert_bad_condition("(params.n", "')' is expected");
    assert_bad_condition("contains(params.n)", "two values are needed");
    assert_bad_condition("foo(params.n)", "a path starts with");
    assert_bad_condition("params.n == 'x", "the text does not end");
    assert_bad_condition("1 == 1 == true", "position 8: this is not expected here");
    assert_bad_condition("params.n 3", "this is not expected here");
    char deep[200];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_bad_condition(deep, "nested too deeply");
}

/* covers: J48 */
TEST(scopes_cover_what_they_name) {
    assert_true(scope_covers(STR("tool:fs.read"), STR("tool:fs.read")));
    assert_true(scope_covers(STR("tool:fs.*"), STR("tool:fs.read")));
    assert_true(scope_covers(STR("*"), STR("tool:fs.read")));
    assert_false(scope_covers(STR("tool:fs.read"), STR("tool:fs.read2")));
    assert_false(scope_covers(STR("tool:fs.*"), STR("tool:f")));
    assert_false(scope_covers(STR(""), STR("tool:x")));
    pawl_error err;
    assert_int_equal(scope_check_name(STR("tool:fs.*"), true, &err), PAWL_OK);
    assert_int_equal(scope_check_name(STR("tool:fs.*"), false, &err), PAWL_INVALID);
    assert_int_equal(scope_check_name(STR("a b"), true, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "position 2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(templates_become_values, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(inserted_values_are_never_read_again, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(templates_that_cannot_be_filled_say_where_and_why, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(what_is_filled_has_a_bound, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(conditions_have_answers, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(conditions_that_are_none, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(scopes_cover_what_they_name, make_arena, drop_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
