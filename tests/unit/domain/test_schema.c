/* JSON Schema: faults and their places, schemas that are none, and bounds. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/schema/regex.h"
#include "domain/schema/schema.h"

static struct schema *compiled(const char *text) {
    struct schema *schema = NULL;
    pawl_error err;
    if (schema_compile_text(str_from(text), NULL, &schema, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return schema;
}

static void assert_fault(const char *schema_text, const char *value, const char *fault) {
    struct schema *schema = compiled(schema_text);
    pawl_error err;
    pawl_status status = schema_validate_text(schema, str_from(value), &err);
    if (fault == NULL && status != PAWL_OK)
        fail_msg("%s", err.text);
    if (fault != NULL) {
        assert_int_equal(status, PAWL_INVALID);
        assert_string_equal(err.text, fault);
    }
    schema_free(schema);
}

static void assert_bad_schema(const char *text, const char *reason) {
    struct schema *schema = NULL;
    pawl_error err;
    assert_int_equal(schema_compile_text(str_from(text), NULL, &schema, &err), PAWL_INVALID);
    assert_null(schema);
    if (strstr(err.text, reason) == NULL)
        fail_msg("%s", err.text);
}

static const char order[] =
    "{\"type\":\"object\",\"required\":[\"id\",\"items\"],\"additionalProperties\":false,"
    "\"properties\":{\"id\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}-[0-9]+$\"},"
    "\"when\":{\"format\":\"date-time\"},\"kind\":{\"enum\":[\"new\",\"used\"]},"
    "\"items\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/item\"}}},"
    "\"$defs\":{\"item\":{\"type\":\"object\",\"properties\":{\"price/"
    "~\":{\"type\":\"number\",\"minimum\":0}}}}}";

/* Place in the value, reason, place in the schema. */
TEST(faults_say_where_and_why) {
    assert_fault(order, "{\"id\":\"AB-1\",\"items\":[{}]}", NULL);
    assert_fault(order, "[]", "the value: it must be of type object, not array (schema /type)");
    assert_fault(order, "{\"id\":\"AB-1\"}", "the value: 'items' is missing (schema /required)");
    assert_fault(order, "{\"id\":\"x\",\"items\":[{}]}",
                 "/id: it must match the pattern ^[A-Z]{2}-[0-9]+$ (schema /properties/id/pattern)");
    assert_fault(
        order, "{\"id\":\"AB-1\",\"items\":[{},{\"price/~\":-0.01}]}",
        "/items/1/price~1~0: it must be at least 0 (schema /$defs/item/properties/price~1~0/minimum)");
    assert_fault(order, "{\"id\":\"AB-1\",\"items\":[1],\"x\":1}",
                 "/items/0: it must be of type object, not number (schema /$defs/item/type)");
    assert_fault(order, "{\"id\":\"AB-1\",\"items\":[{}],\"x\":1}",
                 "the value: 'x' is not allowed here (schema /additionalProperties)");
    assert_fault(order, "{\"id\":\"AB-1\",\"items\":[{}],\"kind\":\"old\"}",
                 "/kind: it must be one of: \"new\", \"used\" (schema /properties/kind/enum)");
    assert_fault(order, "{\"id\":\"AB-1\",\"items\":[{}],\"when\":\"2026-02-30T00:00:00Z\"}",
                 "/when: it must be a valid date-time (schema /properties/when/format)");
    assert_fault(order, "{\"id\":", "line 1, column 7: a value is expected");
}

/* The alternative that comes deepest into the value explains most. */
TEST(alternatives_are_explained) {
    const char *schema =
        "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
        "\"integer\"}}}]}";
    assert_fault(schema, "{\"a\":1.5}",
                 "/a: it must be of type integer, not number (schema /anyOf/1/properties/a/type)");
    assert_fault(schema, "5", "the value: it fits none of the 2 alternatives (schema /anyOf)");
    assert_fault("{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
                 "the value: it fits more than one of the 2 alternatives (schema /oneOf)");
    assert_fault("{\"not\":{\"type\":\"null\"}}", "null",
                 "the value: it is what it must not be (schema /not)");
    assert_fault("{\"properties\":{\"a\":false}}", "{\"a\":1}",
                 "/a: nothing is allowed here (schema /properties/a)");
}

TEST(schemas_that_are_none_are_refused_with_their_place) {
    assert_bad_schema("[]", "a schema is an object, true or false");
    assert_bad_schema("{\"properties\":{\"a\":{\"type\":\"int\"}}}",
                      "schema /properties/a/type: it must be null, boolean");
    assert_bad_schema("{\"items\":{\"minLength\":-1}}", "schema /items/minLength: it must be a whole number");
    assert_bad_schema("{\"pattern\":\"(\"}",
                      "schema /pattern: the pattern '(' cannot be used: missing closing parenthesis");
    assert_bad_schema("{\"pattern\":\"(*ACCEPT)\"}", "nothing to repeat at position 2");
    assert_bad_schema("{\"$ref\":\"#/$defs/none\"}", "schema /$ref: '#/$defs/none' leads nowhere");
    assert_bad_schema("{\"$ref\":\"https://example.com/x\"}", "references are not fetched");
    assert_bad_schema("{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "only 2020-12");
    assert_bad_schema("{\"allOf\":[]}", "schema /allOf: it must be a list of schemas, and not empty");
    assert_bad_schema("{\"multipleOf\":0}", "it must be a number above 0");
    assert_bad_schema("{\"required\":[1]}", "it must be a list of names");
    assert_bad_schema("{\"enum\":1}", "schema /enum: it must be a list");
}

TEST(a_schema_without_end_is_given_up) {
    assert_fault("{\"$ref\":\"#\"}", "1", "the schema refers to itself without end (schema root)");
    assert_fault(
        "{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"not\":{\"$ref\":\"#/$defs/a\"}}},"
        "\"$ref\":\"#/$defs/a\"}",
        "1", "the schema refers to itself without end (schema /$defs/b/not)");
}

/* Each level doubles: 2^40 comparisons, were they all made. */
TEST(too_much_work_is_given_up) {
    struct buf text;
    buf_init(&text, 0);
    buf_append_cstr(&text, "{\"$ref\":\"#/$defs/l39\",\"$defs\":{\"l0\":{\"type\":\"null\"}");
    for (int i = 1; i < 40; i++)
        buf_printf(&text, ",\"l%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/l%d\"},{\"$ref\":\"#/$defs/l%d\"}]}", i,
                   i - 1, i - 1);
    buf_append_cstr(&text, "}}");
    assert_fault(text.ptr, "1",
                 "checking the value takes too many steps (over 10000000): make it or its schema smaller");
    buf_free(&text);
}

TEST(a_pattern_that_explodes_is_given_up) {
    assert_fault("{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
                 "the pattern '^(a+)+$' takes more work on this text than is allowed");
}

TEST(a_value_seventy_levels_deep_is_refused) {
    char value[200];
    memset(value, '[', 70);
    memset(value + 70, ']', 70);
    value[140] = '\0';
    assert_fault("true", value, "line 1, column 65: the document is nested more than 64 levels deep");
}

TEST(both_drafts_are_known) {
    const char *old =
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{\"type\":\"string\"}],"
        "\"additionalItems\":false}";
    assert_fault(old, "[\"a\"]", NULL);
    assert_fault(old, "[\"a\",1]", "/1: nothing is allowed here (schema /additionalItems)");
    assert_fault("{\"$dynamicAnchor\":\"node\",\"properties\":{\"next\":{\"$dynamicRef\":\"#node\"}},"
                 "\"unevaluatedProperties\":false}",
                 "{\"next\":{\"next\":{\"x\":1}}}",
                 "/next/next: 'x' is not allowed here (schema /unevaluatedProperties)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_say_where_and_why),
        cmocka_unit_test(alternatives_are_explained),
        cmocka_unit_test(schemas_that_are_none_are_refused_with_their_place),
        cmocka_unit_test(a_schema_without_end_is_given_up),
        cmocka_unit_test(too_much_work_is_given_up),
        cmocka_unit_test(a_pattern_that_explodes_is_given_up),
        cmocka_unit_test(a_value_seventy_levels_deep_is_refused),
        cmocka_unit_test(both_drafts_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
