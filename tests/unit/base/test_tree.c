/* Trees of JSON and YAML: reading, places, numbers, bounds. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/json/tree.h"
#include "base/str.h"

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

typedef pawl_status (*parse_fn)(struct arena *, pawl_str, const struct tree_limits *, const struct tree **,
                                pawl_error *);

static const struct tree *parsed_by(parse_fn parse, const char *text) {
    const struct tree *tree = NULL;
    pawl_error err;
    if (parse(arena, str_from(text), NULL, &tree, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return tree;
}

static const struct tree *json(const char *text) { return parsed_by(tree_parse, text); }
static const struct tree *yaml(const char *text) { return parsed_by(tree_parse_yaml, text); }

static void assert_written(const struct tree *tree, const char *text) {
    struct buf buf;
    buf_init(&buf, 0);
    tree_write(&buf, tree);
    assert_string_equal(buf.ptr, text);
    buf_free(&buf);
}

static void assert_refused(parse_fn parse, const char *text, const char *reason) {
    const struct tree *tree = NULL;
    pawl_error err;
    assert_int_equal(parse(arena, str_from(text), NULL, &tree, &err), PAWL_INVALID);
    assert_null(tree);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

TEST(json_is_read_and_written) {
    assert_written(json(" { \"b\" : [ 1 , -0.10e+5, 12345678901234567890 ] , \"a\":{},\"\":null} "),
                   "{\"b\":[1,-0.10e+5,12345678901234567890],\"a\":{},\"\":null}");
    assert_written(json("\"\\u00e9\\ud83d\\ude00\\n\\/\""), "\"\xc3\xa9\xf0\x9f\x98\x80\\n/\"");
    assert_written(json("[true,false,[]]"), "[true,false,[]]");
}

TEST(places_are_known) {
    const struct tree *tree = json("{\n  \"a\": [1,\n 2]}");
    assert_int_equal(tree_get_cstr(tree, "a")->line, 2);
    assert_int_equal(tree_get_cstr(tree, "a")->column, 3);
    assert_int_equal(tree_get_cstr(tree, "a")->items[1]->line, 3);
    assert_int_equal(tree_get_cstr(tree, "a")->items[1]->column, 2);
    assert_int_equal(tree->nodes, 4);
    assert_int_equal(tree->depth, 2);
    assert_null(tree_get_cstr(tree, "b"));
    assert_null(tree_get_cstr(NULL, "b"));
    tree = yaml("a:\n  - 1\n  - {b: 2}\n");
    assert_int_equal(tree_get_cstr(tree, "a")->items[1]->line, 3);
    assert_int_equal(tree_get_cstr(tree_get_cstr(tree, "a")->items[1], "b")->column, 6);
}

TEST(what_is_no_json_is_refused_with_its_place) {
    assert_refused(tree_parse, "", "line 1, column 1: a value is expected");
    assert_refused(tree_parse, "{\"a\":1,\n \"b\":2, \"a\":3}", "line 2, column 9: the key 'a' comes twice");
    assert_refused(tree_parse, "[1,]", "column 4: a value is expected");
    assert_refused(tree_parse, "[1 2]", "column 4: ',' or ']' is expected");
    assert_refused(tree_parse, "{\"a\" 1}", "column 6: ':' is expected");
    assert_refused(tree_parse, "{a:1}", "column 2: a key in quotes");
    assert_refused(tree_parse, "01", "a number has no zeros in front");
    assert_refused(tree_parse, "1.", "digits are missing");
    assert_refused(tree_parse, "1e", "exponent is missing");
    assert_refused(tree_parse, "1e10000", "exponent is larger");
    assert_refused(tree_parse, "\"a", "the string does not end");
    assert_refused(tree_parse, "\"\\x\"", "there is no such escape");
    assert_refused(tree_parse, "\"\\u0000\"", "cannot be stored");
    assert_refused(tree_parse, "\"\\ud800\"", "surrogate");
    assert_refused(tree_parse, "\"\t\"", "control character");
    assert_refused(tree_parse, "1 2", "something follows");
    assert_refused(tree_parse, "nul", "a value is expected");
    assert_refused(tree_parse, "[\n\"\xff\"]", "line 2, column 2: the text is not valid UTF-8");
}

TEST(seventy_levels_are_too_many) {
    char text[200];
    memset(text, '[', 70);
    memset(text + 70, ']', 70);
    text[140] = '\0';
    assert_refused(tree_parse, text, "line 1, column 65: the document is nested more than 64 levels deep");
    assert_refused(tree_parse_yaml, text,
                   "line 1, column 65: the document is nested more than 64 levels deep");
    memset(text + 64, ']', 64);
    text[128] = '\0';
    assert_int_equal(json(text)->depth, 63);
}

TEST(numbers_are_exact) {
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {{"1", "1.0", 0},
                 {"100", "1e2", 0},
                 {"-0", "0.0", 0},
                 {"9007199254740993", "9007199254740992", 1},
                 {"0.1", "0.10000000000000001", -1},
                 {"-5", "3", -1},
                 {"-5", "-6", 1},
                 {"1e9999", "9.9e9998", 1},
                 {"0", "-1e-9999", 1},
                 {"12.5", "125e-1", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(tree_number_compare(str_from(cases[i].a), str_from(cases[i].b)), cases[i].order);
        assert_int_equal(tree_number_compare(str_from(cases[i].b), str_from(cases[i].a)), -cases[i].order);
    }
    assert_true(tree_number_is_integer(STR("1e3")) && tree_number_is_integer(STR("1.50e1")));
    assert_false(tree_number_is_integer(STR("1e-1")) || tree_number_is_integer(STR("0.5")));
    assert_true(tree_number_is_multiple(STR("0.0075"), STR("0.0001")));
    assert_true(tree_number_is_multiple(STR("1e308"), STR("0.123456789012345678e-17")) == false);
    assert_true(tree_number_is_multiple(STR("1e300"), STR("8")) &&
                tree_number_is_multiple(STR("0"), STR("7")));
    assert_false(tree_number_is_multiple(STR("35"), STR("1.5e1")) ||
                 tree_number_is_multiple(STR("1"), STR("10")));
    int64_t value = 0;
    assert_true(tree_to_i64(json("-9223372036854775808"), &value) && value == INT64_MIN);
    assert_true(tree_to_i64(json("1.2e3"), &value) && value == 1200);
    assert_false(tree_to_i64(json("9223372036854775808"), &value) || tree_to_i64(json("1.5"), &value) ||
                 tree_to_i64(json("\"1\""), &value) || tree_to_i64(json("1e99"), &value));
}

TEST(equal_means_the_same_value) {
    assert_true(tree_equal(json("{\"a\":[1,{\"x\":null}],\"b\":\"t\"}"),
                           json("{\"b\":\"t\",\"a\":[1.0,{\"x\":null}]}")));
    assert_false(tree_equal(json("[1,2]"), json("[2,1]")) || tree_equal(json("true"), json("1")) ||
                 tree_equal(json("{\"a\":1}"), json("{\"b\":1}")) || tree_equal(json("[]"), json("{}")));
}

TEST(yaml_means_the_same_as_json) {
    assert_written(
        yaml("a: 1\nb: [x, 'y', \"z\\n\"]\nc:\n  - ~\n  - true\n  - 1.5e3\n  - yes\n  - 0x1F\n  - '12'\n"
             "d: |\n  two\n  lines\ne:\n"),
        "{\"a\":1,\"b\":[\"x\",\"y\",\"z\\n\"],\"c\":[null,true,1.5e3,\"yes\",\"0x1F\",\"12\"],"
        "\"d\":\"two\\nlines\\n\",\"e\":null}");
    assert_written(yaml("{\"json\": [1, {\"is\": \"yaml\"}]}"), "{\"json\":[1,{\"is\":\"yaml\"}]}");
    assert_written(yaml("a: &x [1, 2]\nb: *x\nc: !!str 5\n"), "{\"a\":[1,2],\"b\":[1,2],\"c\":\"5\"}");
}

TEST(yaml_that_is_more_than_json_is_refused) {
    assert_refused(tree_parse_yaml, "a: 1\na: 2\n", "line 2, column 1: the key 'a' comes twice");
    assert_refused(tree_parse_yaml, "a: &x {b: 1}\nc:\n  <<: *x\n", "line 3, column 3: merge keys");
    assert_refused(tree_parse_yaml, "a: !ruby/object x\n", "line 1, column 4: tags are not supported");
    assert_refused(tree_parse_yaml, "a: !!set {x, y}\n", "tags are not supported");
    assert_refused(tree_parse_yaml, "? [1, 2]\n: 3\n", "a key must be plain text");
    assert_refused(tree_parse_yaml, "a: *nobody\n", "the alias has no anchor");
    assert_refused(tree_parse_yaml, "a: 1\n---\nb: 2\n", "line 2, column 1: there is more than one document");
    assert_refused(tree_parse_yaml, "", "the document is empty");
    assert_refused(tree_parse_yaml, "a: [1, 2\nb: 3\n", "line 2");
    assert_refused(tree_parse_yaml, "a: \"\\0\"\n", "NUL");
    assert_refused(tree_parse_yaml, "a: &x [*x]\n", "the alias has no anchor");
}

/* Each line doubles the one above nine times: ten lines stand for a thousand million values. */
TEST(a_bomb_of_aliases_is_refused) {
    char text[2000] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; i++) {
        char line[200];
        snprintf(line, sizeof(line), "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                 i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strncat(text, line, sizeof(text) - strlen(text) - 1);
    }
    assert_refused(tree_parse_yaml, text, "the document has more than 200000 values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_is_read_and_written, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(places_are_known, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(what_is_no_json_is_refused_with_its_place, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(seventy_levels_are_too_many, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(numbers_are_exact, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(equal_means_the_same_value, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(yaml_means_the_same_as_json, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(yaml_that_is_more_than_json_is_refused, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_bomb_of_aliases_is_refused, make_arena, drop_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
