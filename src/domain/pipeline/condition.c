/* Conditions: parsing and evaluating a step's `if`. */
#include "domain/pipeline/condition.h"

#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/pipeline/reference.h"

/* Parses and evaluates in one pass. Without a scope it only parses. */
struct condition_reader {
    struct arena *arena;
    pawl_str text;
    size_t at;
    unsigned depth;
    const struct template_scope *scope;
    const struct tree *place;
    template_visit visit;
    void *self;
    pawl_status status; /* not PAWL_OK: given up */
    pawl_error *err;
};

static const struct tree true_value = {.kind = TREE_TRUE, .nodes = 1};
static const struct tree false_value = {.kind = TREE_FALSE, .nodes = 1};

static const struct tree *read_any(struct condition_reader *reader);

static const struct tree *truth(bool holds) { return holds ? &true_value : &false_value; }

/* Nothing, 0, "", [], {} and false are false. */
static bool is_true(const struct tree *value) {
    switch (value->kind) {
    case TREE_NULL:
    case TREE_FALSE:
        return false;
    case TREE_TRUE:
        return true;
    case TREE_NUMBER:
        return tree_number_compare(value->text, STR("0")) != 0;
    case TREE_STRING:
        return value->text.len > 0;
    default:
        return value->count > 0;
    }
}

static const struct tree *give_up(struct condition_reader *reader, const char *why) {
    if (reader->status != PAWL_OK)
        return &tree_null;
    reader->status = tree_fault(reader->place, "condition", reader->err,
                                "the condition '%.*s' is malformed at position %zu: %s",
                                STR_ARG(reader->text), reader->at + 1, why);
    return &tree_null;
}

static const struct tree *no_memory(struct condition_reader *reader) {
    reader->status = error_no_memory(reader->err, "condition");
    return &tree_null;
}

static char peek(const struct condition_reader *reader) {
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static void skip_blanks(struct condition_reader *reader) {
    while (peek(reader) == ' ' || peek(reader) == '\t' || peek(reader) == '\n')
        reader->at++;
}

/* A word ends where a name cannot continue; an operator may end anywhere. */
static bool take(struct condition_reader *reader, const char *word) {
    skip_blanks(reader);
    size_t length = strlen(word);
    pawl_str rest = {reader->text.ptr + reader->at, reader->text.len - reader->at};
    if (!str_starts_with(rest, str_from(word)))
        return false;
    if (reference_is_name_char(word[length - 1]) && rest.len > length &&
        reference_is_name_char(rest.ptr[length]))
        return false;
    reader->at += length;
    return true;
}

static const struct tree *read_path(struct condition_reader *reader, bool *exists) {
    struct reference reference;
    skip_blanks(reader);
    const char *why = reference_read(reader->text, &reader->at, &reference);
    if (why != NULL)
        return give_up(reader, why);
    if (reader->visit != NULL && reader->status == PAWL_OK) {
        struct template_use use = reference_use(&reference, reader->place, true);
        reader->status = reader->visit(reader->self, &use, reader->err);
    }
    const struct tree *value = reader->scope != NULL ? reference_follow(&reference, reader->scope, NULL)
                                                     : NULL;
    *exists = value != NULL;
    return value != NULL ? value : &tree_null;
}

static bool contains(const struct tree *whole, const struct tree *part) {
    if (whole->kind == TREE_STRING && part->kind == TREE_STRING)
        return part->text.len == 0 || (whole->text.len > 0 && memmem(whole->text.ptr, whole->text.len,
                                                                     part->text.ptr, part->text.len) != NULL);
    if (whole->kind == TREE_OBJECT && part->kind == TREE_STRING)
        return tree_get(whole, part->text) != NULL;
    for (size_t i = 0; whole->kind == TREE_ARRAY && i < whole->count; i++)
        if (tree_equal(whole->items[i], part))
            return true;
    return false;
}

static bool expect(struct condition_reader *reader, const char *sign, const char *why) {
    if (take(reader, sign))
        return true;
    (void)give_up(reader, why);
    return false;
}

static const struct tree *read_two(struct condition_reader *reader, const struct tree **second) {
    const struct tree *first = read_any(reader);
    *second = &tree_null;
    if (expect(reader, ",", "',' is expected: two values are needed"))
        *second = read_any(reader);
    return first;
}

/* A call, or NULL when it is none. */
static const struct tree *read_call(struct condition_reader *reader) {
    const struct tree *value = NULL;
    const struct tree *second = NULL;
    bool exists = false;
    if (take(reader, "exists(")) {
        (void)read_path(reader, &exists);
        value = truth(exists);
    } else if (take(reader, "length(")) {
        value = read_any(reader);
        value = tree_from_i64(
            reader->arena, (int64_t)(value->kind == TREE_STRING ? utf8_length(value->text) : value->count));
        if (value == NULL)
            return no_memory(reader);
    } else if (take(reader, "contains(")) {
        value = read_two(reader, &second);
        value = truth(contains(value, second));
    } else if (take(reader, "starts_with(")) {
        value = read_two(reader, &second);
        value = truth(value->kind == TREE_STRING && second->kind == TREE_STRING &&
                      str_starts_with(value->text, second->text));
    } else {
        return NULL;
    }
    (void)expect(reader, ")", "')' is expected");
    return value;
}

static bool is_literal(struct condition_reader *reader) {
    char c = peek(reader);
    if (c == '"' || c == '\'' || c == '-' || (c >= '0' && c <= '9'))
        return true;
    static const char *const words[] = {"true", "false", "null"};
    size_t before = reader->at;
    bool found = false;
    for (int i = 0; i < 3 && !found; i++)
        found = take(reader, words[i]);
    reader->at = before;
    return found;
}

static const struct tree *read_primary(struct condition_reader *reader) {
    bool exists = false;
    if (take(reader, "(")) {
        const struct tree *value = read_any(reader);
        (void)expect(reader, ")", "')' is expected");
        return value;
    }
    const struct tree *called = read_call(reader);
    if (called != NULL)
        return called;
    skip_blanks(reader);
    if (peek(reader) == '\0')
        return give_up(reader, "a value is expected");
    if (!is_literal(reader))
        return read_path(reader, &exists);
    const char *why = NULL;
    const struct tree *value = reference_literal(reader->arena, reader->text, &reader->at, &why);
    if (value == NULL)
        return why != NULL ? give_up(reader, why) : no_memory(reader);
    return value;
}

/* -1, 0, 1; 2 when the two cannot be compared. */
static int compare(const struct tree *a, const struct tree *b) {
    if (a->kind == TREE_NUMBER && b->kind == TREE_NUMBER)
        return tree_number_compare(a->text, b->text);
    if (a->kind != TREE_STRING || b->kind != TREE_STRING)
        return 2;
    int order = str_compare(a->text, b->text);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

static const struct tree *read_comparison(struct condition_reader *reader) {
    const struct tree *left = read_primary(reader);
    if (take(reader, "=="))
        return truth(tree_equal(left, read_primary(reader)));
    if (take(reader, "!="))
        return truth(!tree_equal(left, read_primary(reader)));
    if (take(reader, "<="))
        return truth(compare(left, read_primary(reader)) <= 0);
    if (take(reader, ">=")) {
        int order = compare(left, read_primary(reader));
        return truth(order == 0 || order == 1);
    }
    if (take(reader, "<"))
        return truth(compare(left, read_primary(reader)) == -1);
    if (take(reader, ">"))
        return truth(compare(left, read_primary(reader)) == 1);
    if (take(reader, "in"))
        return truth(contains(read_primary(reader), left));
    return left;
}

static const struct tree *read_not(struct condition_reader *reader) {
    skip_blanks(reader);
    bool negated = false;
    bool denied = false;
    while (take(reader, "!")) {
        negated = true;
        denied = !denied;
    }
    const struct tree *value = read_comparison(reader);
    return negated ? truth(is_true(value) != denied) : value;
}

static const struct tree *read_and(struct condition_reader *reader) {
    const struct tree *value = read_not(reader);
    while (reader->status == PAWL_OK && take(reader, "&&")) {
        const struct tree *right = read_not(reader);
        value = truth(is_true(value) && is_true(right));
    }
    return value;
}

static const struct tree *read_any(struct condition_reader *reader) {
    if (++reader->depth > PAWL_CONDITION_DEPTH_MAX)
        return give_up(reader, "it is nested too deeply");
    const struct tree *value = read_and(reader);
    while (reader->status == PAWL_OK && take(reader, "||")) {
        const struct tree *right = read_and(reader);
        value = truth(is_true(value) || is_true(right));
    }
    reader->depth--;
    return value;
}

/* People also write "${…}" around the whole condition; it means the same. */
static pawl_str unwrap(pawl_str text) {
    text = str_trim(text);
    if (str_starts_with(text, STR("${")) && text.ptr[text.len - 1] == '}')
        return (pawl_str){text.ptr + 2, text.len - 3};
    return text;
}

static pawl_status run(struct condition_reader *reader, bool *holds) {
    if (reader->text.len > PAWL_CONDITION_BYTES_MAX)
        return error_set(reader->err, PAWL_INVALID, "condition", "a condition has at most %d bytes, not %zu",
                         PAWL_CONDITION_BYTES_MAX, reader->text.len);
    const struct tree *value = read_any(reader);
    skip_blanks(reader);
    if (reader->status == PAWL_OK && reader->at != reader->text.len)
        (void)give_up(reader, "this is not expected here");
    if (reader->status == PAWL_OK)
        *holds = is_true(value);
    return reader->status;
}

pawl_status condition_check(pawl_str text, const struct tree *place, template_visit visit, void *self,
                            pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct condition_reader reader = {
        .arena = arena, .text = unwrap(text), .place = place, .visit = visit, .self = self, .err = err};
    bool holds = false;
    pawl_status status = run(&reader, &holds);
    arena_free(arena);
    return status;
}

pawl_status condition_holds(struct arena *arena, pawl_str text, const struct template_scope *scope,
                            bool *holds, pawl_error *err) {
    struct condition_reader reader = {.arena = arena, .text = unwrap(text), .scope = scope, .err = err};
    return run(&reader, holds);
}
