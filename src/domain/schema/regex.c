/* Regular expressions as JSON Schema means them, on PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "domain/schema/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

struct regex {
    pcre2_code *code;
    pcre2_match_context *limits;
    char pattern[81]; /* for messages */
};

enum { PARENTHESES_MAX = 50 };

/* What \s means in ECMA-262. */
#define SPACES                                                                                               \
    "\\t\\n\\x0b\\f\\r "                                                                                     \
    "\\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{2028}\\u{2029}\\u{202f}\\u{205f}\\u{3000}\\u{feff}"

static const struct {
    const char *name, *pcre;
} properties[] = {{"Letter", "L"},
                  {"Lowercase_Letter", "Ll"},
                  {"Uppercase_Letter", "Lu"},
                  {"Titlecase_Letter", "Lt"},
                  {"Modifier_Letter", "Lm"},
                  {"Other_Letter", "Lo"},
                  {"Mark", "M"},
                  {"Number", "N"},
                  {"Decimal_Number", "Nd"},
                  {"digit", "Nd"},
                  {"Punctuation", "P"},
                  {"punct", "P"},
                  {"Symbol", "S"},
                  {"Separator", "Z"},
                  {"Space_Separator", "Zs"},
                  {"Control", "Cc"},
                  {"Alphabetic", "L"},
                  {"Other", "C"}};

/* After \p or \P: the long names of ECMA-262 become the short ones of PCRE2. Returns what was read. */
static size_t translate_property(pawl_str rest, struct buf *out) {
    const char *end = rest.len > 0 && rest.ptr[0] == '{' ? memchr(rest.ptr, '}', rest.len) : NULL;
    if (end == NULL)
        return 0;
    pawl_str name = {rest.ptr + 1, (size_t)(end - rest.ptr) - 1};
    size_t read = name.len + 2;
    static const char *const prefixes[] = {
        "Script=", "sc=", "General_Category=", "gc=", "Script_Extensions=", "scx="};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        pawl_str prefix = str_from(prefixes[i]);
        if (str_starts_with(name, prefix)) {
            name.ptr += prefix.len;
            name.len -= prefix.len;
            break;
        }
    }
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
        if (str_equal_cstr(name, properties[i].name))
            name = str_from(properties[i].pcre);
    buf_printf(out, "{%.*s}", STR_ARG(name));
    return read;
}

/* At a backslash. Returns how much was read, 0 when there is no such escape. */
static size_t translate_escape(pawl_str rest, bool in_class, struct buf *out) {
    if (rest.len < 2)
        return 0;
    char c = rest.ptr[1];
    if (c == 's') {
        buf_append_cstr(out, in_class ? SPACES : "[" SPACES "]");
        return 2;
    }
    if (c == 'S' && !in_class) {
        buf_append_cstr(out, "[^" SPACES "]");
        return 2;
    }
    if (c == 'p' || c == 'P') {
        buf_append(out, rest.ptr, 2);
        size_t read = translate_property((pawl_str){rest.ptr + 2, rest.len - 2}, out);
        return read == 0 ? 0 : read + 2;
    }
    if (c == 'c' && rest.len > 2) {
        buf_append(out, rest.ptr, 3);
        return 3;
    }
    if (char_is_letter(c) && strchr("bBdDwWSfnrtvxuk", c) == NULL)
        return 0; /* PCRE2 knows more than ECMA-262: \a, \A, \Z … */
    if (c == 'v') {
        buf_append_cstr(out, "\\x0b");
        return 2;
    }
    buf_append(out, rest.ptr, 2);
    return 2;
}

static pawl_status translate(pawl_str pattern, struct buf *out, pawl_error *err) {
    bool in_class = false;
    for (size_t at = 0; at < pattern.len;) {
        char c = pattern.ptr[at];
        if (c == '\\') {
            size_t read = translate_escape((pawl_str){pattern.ptr + at, pattern.len - at}, in_class, out);
            if (read == 0)
                return error_set(err, PAWL_INVALID, "regex_compile",
                                 "the pattern '%.*s' has an escape at position %zu that does not exist",
                                 STR_ARG(pattern), at + 1);
            at += read;
            continue;
        }
        if (c == '[' && in_class)
            buf_append_char(out, '\\'); /* [[:alpha:]] is nothing special here */
        if (c == '[')
            in_class = true;
        else if (c == ']')
            in_class = false;
        /* (* starts a verb of PCRE2; (?P<, (?#, (?| and the like are also specific to it. Only shared syntax
         * is allowed. */
        if (c == '(' && !in_class && at + 1 < pattern.len && pattern.ptr[at + 1] == '*')
            return error_set(err, PAWL_INVALID, "regex_compile",
                             "the pattern '%.*s' has nothing to repeat at position %zu", STR_ARG(pattern),
                             at + 2);
        buf_append_char(out, c);
        at++;
    }
    return buf_status(out, "regex_compile", err);
}

static pcre2_code *compile(pawl_str pattern, int *code, size_t *offset) {
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (context == NULL) {
        *code = PCRE2_ERROR_HEAP_FAILED;
        return NULL;
    }
    pcre2_set_max_pattern_length(context, (size_t)PAWL_REGEX_BYTES_MAX * 64);
    pcre2_set_parens_nest_limit(context, PARENTHESES_MAX);
    pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len,
                                     PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                                         PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS,
                                     code, offset, context);
    pcre2_compile_context_free(context);
    return made;
}

static pawl_status build(pawl_str pattern, pawl_str translated, struct regex *made, pawl_error *err) {
    int code = 0;
    size_t offset = 0;
    made->code = compile(translated, &code, &offset);
    if (made->code == NULL && code == PCRE2_ERROR_HEAP_FAILED)
        return error_no_memory(err, "regex_compile");
    if (made->code == NULL) {
        char reason[120];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
        return error_set(err, PAWL_INVALID, "regex_compile", "the pattern '%.*s' cannot be used: %s",
                         STR_ARG(pattern), reason);
    }
    made->limits = pcre2_match_context_create(NULL);
    if (made->limits == NULL)
        return error_no_memory(err, "regex_compile");
    pcre2_set_match_limit(made->limits, PAWL_REGEX_MATCH_MAX);
    pcre2_set_depth_limit(made->limits, PAWL_REGEX_MATCH_MAX);
    pcre2_set_heap_limit(made->limits, PAWL_REGEX_HEAP_KIB_MAX);
    size_t shown = pattern.len < sizeof(made->pattern) ? pattern.len : sizeof(made->pattern) - 1;
    if (shown > 0)
        memcpy(made->pattern, pattern.ptr, shown);
    return PAWL_OK;
}

pawl_status regex_compile(pawl_str pattern, struct regex **regex, pawl_error *err) {
    if (pattern.len > PAWL_REGEX_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "regex_compile",
                         "the pattern has %zu bytes: at most %d are allowed", pattern.len,
                         PAWL_REGEX_BYTES_MAX);
    struct buf translated;
    buf_init(&translated, (size_t)PAWL_REGEX_BYTES_MAX * 128);
    struct regex *made = calloc(1, sizeof(*made));
    pawl_status status = made == NULL ? error_no_memory(err, "regex_compile")
                                      : translate(pattern, &translated, err);
    if (status == PAWL_OK)
        status = build(pattern, buf_str(&translated), made, err);
    if (status == PAWL_OK)
        *regex = made;
    else
        regex_free(made);
    buf_free(&translated);
    return status;
}

void regex_free(struct regex *regex) {
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_context_free(regex->limits);
    free(regex);
}

pawl_status regex_search(const struct regex *regex, pawl_str text, bool *found, pawl_error *err) {
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (data == NULL)
        return error_no_memory(err, "regex_search");
    /* Trees hold valid UTF-8 only. */
    int result = pcre2_match(regex->code, (PCRE2_SPTR)(text.ptr != NULL ? text.ptr : ""), text.len, 0,
                             PCRE2_NO_UTF_CHECK, data, regex->limits);
    pcre2_match_data_free(data);
    if (result == PCRE2_ERROR_NOMEMORY)
        return error_no_memory(err, "regex_search");
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
        return error_set(err, PAWL_INVALID, "regex_search",
                         "the pattern '%s' takes more work on this text than is allowed", regex->pattern);
    *found = result >= 0;
    return PAWL_OK;
}
