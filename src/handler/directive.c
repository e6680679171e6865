/* Parsing the pawl:snooze and pawl:retry-after lines of a program. */
#include "handler/directive.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { SHOWN_BYTES = 32 };

static bool line_says(pawl_str line, pawl_str word, struct directive *directive) {
    if (!str_starts_with(line, word) || (line.len > word.len && line.ptr[word.len] != ' '))
        return false;
    pawl_str rest = str_trim((pawl_str){line.ptr + word.len, line.len - word.len});
    if (clock_parse_duration(rest, &directive->delay_ms) && directive->delay_ms >= 0)
        return true;
    directive->delay_ms = -1;
    bool plain = rest.len <= SHOWN_BYTES;
    for (size_t i = 0; plain && i < rest.len; i++)
        plain = rest.ptr[i] >= ' ' && rest.ptr[i] < 0x7f;
    if (directive->problem[0] == '\0')
        snprintf(directive->problem, sizeof(directive->problem),
                 "%.*s '%.*s' does not count: write a duration, as in 30s, 5m, 2h or 7d", STR_ARG(word),
                 STR_ARG(plain ? rest : STR("…")));
    return false;
}

struct directive directive_read(pawl_str output, bool exited, int exit_code) {
    struct directive directive = {.delay_ms = -1};
    if (output.len > DIRECTIVE_BYTES_MAX)
        output.len = DIRECTIVE_BYTES_MAX;
    for (pawl_str part; str_next(&output, '\n', &part);) {
        pawl_str line = str_trim(part);
        bool snooze = line_says(line, STR("pawl:snooze"), &directive);
        if (snooze || line_says(line, STR("pawl:retry-after"), &directive)) {
            directive.problem[0] = '\0';
            directive.snooze = snooze && exited && exit_code == DIRECTIVE_EXIT;
            if (snooze && exited && !directive.snooze)
                snprintf(directive.problem, sizeof(directive.problem),
                         "pawl:snooze counts with exit code %d only", DIRECTIVE_EXIT);
            if (directive.delay_ms > PAWL_RETRY_MS_MAX)
                directive.delay_ms = PAWL_RETRY_MS_MAX;
            return directive;
        }
    }
    return directive;
}

void directive_explain(const struct directive *directive, char *error, size_t size) {
    size_t at = strlen(error);
    if (directive->problem[0] != '\0' && at < size)
        snprintf(error + at, size - at, "%s%s", at > 0 ? "; " : "", directive->problem);
}
