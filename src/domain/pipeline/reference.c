/* Parsing and following paths such as steps.fetch.body[0]. */
#include "domain/pipeline/reference.h"

#include <string.h>

#include "base/str.h"

bool reference_is_name_char(char c) { return char_is_alnum(c) || c == '_' || c == '-'; }

static char peek(pawl_str text, size_t at) { return at < text.len ? text.ptr[at] : '\0'; }

static pawl_str read_name(pawl_str text, size_t *at) {
    size_t start = *at;
    while (reference_is_name_char(peek(text, *at)))
        (*at)++;
    return (pawl_str){text.ptr + start, *at - start};
}

static bool find_root(pawl_str name, enum template_root *root) {
    static const struct {
        const char *name;
        enum template_root root;
    } roots[] = {{"params", TEMPLATE_PARAMS}, {"steps", TEMPLATE_STEPS}, {"status", TEMPLATE_STATUS},
                 {"env", TEMPLATE_ENV},       {"run", TEMPLATE_RUN},     {"item", TEMPLATE_ITEM},
                 {"index", TEMPLATE_INDEX}};
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        if (str_equal_cstr(name, roots[i].name)) {
            *root = roots[i].root;
            return true;
        }
    }
    return false;
}

/* After '[': a number or a key in quotes, and ']'. */
static const char *read_bracket(pawl_str text, size_t *at, pawl_str *segment) {
    char quote = peek(text, *at);
    if (quote == '"' || quote == '\'') {
        const char *start = text.ptr + *at + 1;
        const char *end = memchr(start, quote, text.len - *at - 1);
        if (end == NULL)
            return "the key does not end";
        *segment = (pawl_str){start, (size_t)(end - start)};
        *at += segment->len + 2;
    } else {
        size_t start = *at;
        while (peek(text, *at) >= '0' && peek(text, *at) <= '9')
            (*at)++;
        *segment = (pawl_str){text.ptr + start, *at - start};
        if (segment->len == 0)
            return "a number or a key in quotes is expected";
    }
    if (peek(text, *at) != ']')
        return "']' is expected";
    (*at)++;
    return NULL;
}

const char *reference_read(pawl_str text, size_t *at, struct reference *reference) {
    size_t start = *at;
    pawl_str name = read_name(text, at);
    if (!find_root(name, &reference->root)) {
        *at = start;
        return "a path starts with params, steps, env, run, item, index or status";
    }
    reference->count = 0;
    while (peek(text, *at) == '.' || peek(text, *at) == '[') {
        pawl_str segment = {NULL, 0};
        const char *wrong = NULL;
        if (reference->count == PAWL_TEMPLATE_SEGMENTS_MAX)
            return "the path has more than 32 parts";
        if (text.ptr[(*at)++] == '[') {
            wrong = read_bracket(text, at, &segment);
        } else {
            segment = read_name(text, at);
            wrong = segment.len == 0 ? "a name is expected" : NULL;
        }
        if (wrong != NULL)
            return wrong;
        reference->segments[reference->count++] = segment;
    }
    reference->text = (pawl_str){text.ptr + start, *at - start};
    return NULL;
}

static const struct tree *root_of(enum template_root root, const struct template_scope *scope) {
    if (root == TEMPLATE_ITEM || root == TEMPLATE_INDEX)
        return root == TEMPLATE_ITEM ? scope->item : scope->index;
    const struct tree *found = root == TEMPLATE_PARAMS   ? scope->params
                               : root == TEMPLATE_STEPS  ? scope->steps
                               : root == TEMPLATE_STATUS ? scope->status
                               : root == TEMPLATE_ENV    ? scope->env
                                                         : scope->run;
    return found != NULL ? found : &tree_empty;
}

const struct tree *reference_follow(const struct reference *reference, const struct template_scope *scope,
                                    size_t *missing) {
    const struct tree *value = root_of(reference->root, scope);
    size_t i = 0;
    for (; value != NULL && i < reference->count; i++)
        value = tree_step(value, reference->segments[i]);
    if (value == NULL && missing != NULL)
        *missing = i > 0 ? i - 1 : 0;
    return value;
}

const struct tree *reference_literal(struct arena *arena, pawl_str text, size_t *at, const char **wrong) {
    char c = peek(text, *at);
    *wrong = NULL;
    if (c == '"' || c == '\'') {
        const char *start = text.ptr + *at + 1;
        const char *end = memchr(start, c, text.len - *at - 1);
        if (end == NULL) {
            *wrong = "the text does not end";
            return NULL;
        }
        *at += (size_t)(end - start) + 2;
        return tree_scalar(arena, TREE_STRING, (pawl_str){start, (size_t)(end - start)});
    }
    size_t length = 0;
    while (reference_is_name_char(peek(text, *at + length)) || peek(text, *at + length) == '.' ||
           peek(text, *at + length) == '+')
        length++;
    pawl_str word = {text.ptr + *at, length};
    const struct tree *value = NULL;
    bool number_or_word = c == '-' || (c >= '0' && c <= '9') || str_equal_cstr(word, "true") ||
                          str_equal_cstr(word, "false") || str_equal_cstr(word, "null");
    if (!number_or_word || tree_parse(arena, word, NULL, &value, NULL) != PAWL_OK) {
        *wrong = "a number, true, false, null or text in quotes is expected";
        return NULL;
    }
    *at += length;
    return value;
}

struct template_use reference_use(const struct reference *reference, const struct tree *place,
                                  bool optional) {
    return (struct template_use){
        .root = reference->root,
        .name = reference->count > 0 ? reference->segments[0] : (pawl_str){NULL, 0},
        .path = reference->text,
        .optional = optional,
        .alone = true,
        .place = place,
    };
}
