/* Patterns of event types: checked by hand, matched by PCRE2's automaton, which never backtracks. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "domain/event_pattern.h"

#include <pcre2.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define OP "pattern"

enum { GROUPS_MAX = 8, REPEATS_MAX = 20, COUNT_MAX = 100, WORKSPACE = 4096, FAULT_BYTES = 128 };

/* What precedes the current position. */
enum atom { ATOM_NONE, ATOM_ONE, ATOM_REPEATING, ATOM_REPEATED };

/* A scan over a regular expression; texts and order of the checks are those of pawl.pattern_fault in SQL. */
struct pattern_scan {
    pawl_str text;
    size_t at;
    enum atom atom;
    bool groups[GROUPS_MAX]; /* per open group: was something repeated around it */
    int depth;
    bool repeats; /* something was repeated in this group */
    int count;
    char fault[FAULT_BYTES];
};

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool same_range(char a, char b) {
    return (char_is_digit(a) && char_is_digit(b)) || (is_lower(a) && is_lower(b)) ||
           (is_upper(a) && is_upper(b));
}

static char peek(const struct pattern_scan *s, size_t ahead) {
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : '\0';
}

static bool wrong(struct pattern_scan *s, size_t at, const char *what) {
    (void)snprintf(s->fault, sizeof s->fault, "character %zu: %s", at + 1, what);
    return false;
}

/* At '['; leaves the scan on ']'. */
static bool scan_class(struct pattern_scan *s) {
    size_t i = s->at + 1;
    const char *t = s->text.ptr;
    size_t members = 0;
    bool right = true;
    if (i < s->text.len && t[i] == '^')
        i++;
    for (; right && i < s->text.len && t[i] != ']'; members++) {
        if (i + 2 < s->text.len && t[i + 1] == '-' && same_range(t[i], t[i + 2])) {
            right = t[i] <= t[i + 2];
            i += 3;
        } else {
            right = char_is_alnum(t[i]) || strchr("_.+/:, ", t[i]) != NULL;
            i++;
        }
    }
    if (!right || members == 0 || i >= s->text.len)
        return wrong(s, s->at,
                     "a class holds letters, digits, _ . + / : , blank and ranges inside a-z, A-Z or 0-9");
    s->at = i;
    s->atom = ATOM_ONE;
    return true;
}

/* {m} or {m,n} at the scan; *len is its length. */
static bool scan_count(struct pattern_scan *s, size_t *len) {
    int bounds[2] = {0, 0};
    int parts = 0;
    size_t i = 1;
    for (;;) {
        size_t digits = 0;
        for (; char_is_digit(peek(s, i)) && digits < 4; i++, digits++)
            bounds[parts] = bounds[parts] * 10 + (peek(s, i) - '0');
        if (digits < 1 || digits > 3)
            return wrong(s, s->at, "write a count as {m} or {m,n}");
        parts++;
        if (parts == 2 || peek(s, i) != ',')
            break;
        i++;
    }
    if (peek(s, i) != '}')
        return wrong(s, s->at, "write a count as {m} or {m,n}");
    int last = bounds[parts - 1];
    if (last < 1 || last < bounds[0] || last > COUNT_MAX)
        return wrong(s, s->at, "a count is from 1 to 100");
    *len = i + 1;
    return true;
}

static bool scan_repeat(struct pattern_scan *s) {
    char c = peek(s, 0);
    size_t len = 1;
    if (c == '{' && !scan_count(s, &len))
        return false;
    if (s->atom == ATOM_NONE)
        return wrong(s, s->at, "there is nothing before it to repeat");
    if (s->atom == ATOM_REPEATING && c != '?')
        return wrong(s, s->at, "what repeats something must not be repeated itself");
    if (++s->count > REPEATS_MAX)
        return wrong(s, s->at, "more than 20 repetitions");
    s->repeats = s->repeats || c != '?';
    s->at += len - 1;
    s->atom = ATOM_REPEATED;
    char next = peek(s, 1);
    if (next != '\0' && strchr("*+?{", next) != NULL)
        return wrong(s, s->at + 1, "a repetition cannot be repeated");
    return true;
}

static bool scan_group(struct pattern_scan *s) {
    if (peek(s, 0) == '(') {
        if (peek(s, 1) == '?')
            return wrong(s, s->at, "groups are plain; (? is not in the shared subset");
        if (s->depth >= GROUPS_MAX)
            return wrong(s, s->at, "groups are nested too deeply");
        s->groups[s->depth++] = s->repeats;
        s->repeats = false;
        s->atom = ATOM_NONE;
        return true;
    }
    if (s->depth == 0 || s->atom == ATOM_NONE)
        return wrong(s, s->at, "this ) closes nothing, or an empty alternative");
    s->atom = s->repeats ? ATOM_REPEATING : ATOM_ONE;
    s->depth--;
    s->repeats = s->repeats || s->groups[s->depth];
    return true;
}

static bool scan_one(struct pattern_scan *s) {
    char c = peek(s, 0);
    char text[64];
    switch (c) {
    case '\\':
        if (s->at + 1 >= s->text.len || char_is_alnum(peek(s, 1)))
            return wrong(s, s->at, "a backslash may only precede punctuation");
        s->at++;
        s->atom = ATOM_ONE;
        return true;
    case '[':
        return scan_class(s);
    case '(':
    case ')':
        return scan_group(s);
    case '|':
        if (s->atom == ATOM_NONE)
            return wrong(s, s->at, "an alternative is empty");
        s->atom = ATOM_NONE;
        return true;
    case '*':
    case '+':
    case '?':
    case '{':
        return scan_repeat(s);
    case '^':
    case '$':
    case ']':
    case '}':
        (void)snprintf(text, sizeof text, "write \\%c for the character itself", c);
        return wrong(s, s->at, text);
    default:
        s->atom = ATOM_ONE;
        return true;
    }
}

static bool scan_all(struct pattern_scan *s) {
    for (; s->at < s->text.len; s->at++) {
        if (!scan_one(s))
            return false;
    }
    if (s->depth > 0 || s->atom == ATOM_NONE) {
        (void)snprintf(s->fault, sizeof s->fault, "%s",
                       s->depth > 0 ? "a ( is not closed" : "it ends with an empty alternative");
        return false;
    }
    return true;
}

static pawl_status invalid(const struct event_pattern *pattern, const char *what, pawl_error *err) {
    pawl_str shown = pattern->text;
    if (shown.len > PAWL_PATTERN_BYTES_MAX)
        shown.len = PAWL_PATTERN_BYTES_MAX;
    return error_set(err, PAWL_INVALID, OP, "pattern \"%.*s\": %s", STR_ARG(shown), what);
}

/* A pattern matches the whole type, so anchors at its ends say nothing new. */
static pawl_str without_anchors(pawl_str text) {
    if (text.len > 0 && text.ptr[0] == '^')
        text = (pawl_str){text.ptr + 1, text.len - 1};
    if (text.len > 0 && text.ptr[text.len - 1] == '$' && !(text.len > 1 && text.ptr[text.len - 2] == '\\'))
        text.len--;
    return text;
}

static pawl_status check(const struct event_pattern *pattern, pawl_error *err) {
    pawl_str text = pattern->text;
    if (text.len < 1 || text.len > PAWL_PATTERN_BYTES_MAX)
        return invalid(pattern, "it must have 1 to 256 bytes", err);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7e)
            return invalid(pattern, "only printable ASCII characters are allowed", err);
    }
    if (pattern->mode < PATTERN_EXACT || pattern->mode > PATTERN_REGEX)
        return invalid(pattern, "its mode is unknown; use exact, suffix, glob or regex", err);
    struct pattern_scan scan = {.text = without_anchors(text)};
    if (pattern->mode == PATTERN_REGEX && !scan_all(&scan))
        return invalid(pattern, scan.fault, err);
    return PAWL_OK;
}

/* Literal characters, with the wildcards of a glob. */
static void append_literal(struct buf *buf, pawl_str text, bool glob) {
    for (size_t i = 0; i < text.len; i++) {
        char c = char_lower(text.ptr[i]);
        if (glob && c == '*') {
            if (i == 0 || text.ptr[i - 1] != '*')
                buf_append_cstr(buf, ".*");
        } else if (glob && c == '?') {
            buf_append_char(buf, '.');
        } else {
            if (!char_is_alnum(c) && c != '_' && c != ' ')
                buf_append_char(buf, '\\');
            buf_append_char(buf, c);
        }
    }
}

/* Ends with \z: with PCRE2_ENDANCHORED the automaton also takes a subject that only begins as the pattern
 * says. */
static void append_regex(struct buf *buf, const struct event_pattern *pattern) {
    pawl_str text = without_anchors(pattern->text);
    buf_append_cstr(buf, "(?:");
    switch (pattern->mode) {
    case PATTERN_SUFFIX:
        buf_append_cstr(buf, "(?:.*[.+/:])?");
        append_literal(buf, pattern->text, false);
        break;
    case PATTERN_REGEX:
        for (size_t i = 0; i < text.len; i++)
            buf_append_char(buf, char_lower(text.ptr[i]));
        break;
    default:
        append_literal(buf, pattern->text, pattern->mode == PATTERN_GLOB);
        break;
    }
    buf_append_cstr(buf, ")\\z");
}

static pawl_status run(const struct buf *regex, const struct buf *subject, bool *matches, pawl_error *err) {
    int workspace[WORKSPACE];
    int code = 0;
    PCRE2_SIZE at = 0;
    pawl_status status = PAWL_OK;
    pcre2_match_data *data = NULL;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)regex->ptr, regex->len,
                                         PCRE2_ANCHORED | PCRE2_DOTALL | PCRE2_UTF, &code, &at, NULL);
    if (compiled == NULL && code == PCRE2_ERROR_HEAP_FAILED) {
        status = error_no_memory(err, OP);
        goto done;
    }
    if (compiled == NULL) {
        status = error_set(err, PAWL_INVALID, OP, "the pattern \"%.*s\" is no regular expression (%d at %zu)",
                           STR_ARG(buf_str(regex)), code, at);
        goto done;
    }
    data = pcre2_match_data_create(1, NULL);
    if (data == NULL) {
        status = error_no_memory(err, OP);
        goto done;
    }
    int found = pcre2_dfa_match(compiled, (PCRE2_SPTR)subject->ptr, subject->len, 0, 0, data, NULL, workspace,
                                WORKSPACE);
    if (found == PCRE2_ERROR_NOMEMORY)
        status = error_no_memory(err, OP);
    else if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        status = error_set(err, PAWL_INVALID, OP,
                           "matching \"%.*s\" against the pattern \"%.*s\" failed (%d)",
                           STR_ARG(buf_str(subject)), STR_ARG(buf_str(regex)), found);
    else
        *matches = found >= 0;
done:
    pcre2_match_data_free(data);
    pcre2_code_free(compiled);
    return status;
}

pawl_status event_pattern_matches(const struct event_pattern *pattern, pawl_str type, bool *matches,
                                  pawl_error *err) {
    struct buf regex, subject;
    pawl_status status = check(pattern, err);
    if (status != PAWL_OK)
        return status;
    buf_init(&regex, 0);
    buf_init(&subject, 0);
    append_regex(&regex, pattern);
    for (size_t i = 0; i < type.len; i++)
        buf_append_char(&subject, char_lower(type.ptr[i]));
    status = buf_status(&regex, OP, err);
    if (status == PAWL_OK)
        status = buf_status(&subject, OP, err);
    if (status == PAWL_OK)
        status = run(&regex, &subject, matches, err);
    buf_free(&subject);
    buf_free(&regex);
    return status;
}

struct event_pattern event_pattern_from(pawl_str text) {
    static const struct {
        const char *prefix;
        enum pattern_mode mode;
    } rows[] = {{"exact:", PATTERN_EXACT},
                {"suffix:", PATTERN_SUFFIX},
                {"glob:", PATTERN_GLOB},
                {"regex:", PATTERN_REGEX}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t len = strlen(rows[i].prefix);
        if (str_starts_with(text, str_from(rows[i].prefix)))
            return (struct event_pattern){rows[i].mode, {text.ptr + len, text.len - len}};
    }
    return (struct event_pattern){PATTERN_GLOB, text};
}
