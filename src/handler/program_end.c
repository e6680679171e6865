/* Judging a program by how it exited and by the pawl:snooze and pawl:retry-after lines of its output. */
#include "handler/program_end.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { SHOWN_BYTES = 32 };

struct directive {
    bool snooze;       /* not now; no attempt is counted */
    int64_t delay_ms;  /* until the next one; -1 = not given */
    char problem[160]; /* why the directive is ignored; "" = it counts, or there was none */
};

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

static struct directive read_directive(pawl_str output, const struct process_end *end) {
    struct directive directive = {.delay_ms = -1};
    bool exited = end->outcome == PROCESS_EXITED;
    if (output.len > PROCESS_STDOUT_KEPT)
        output.len = PROCESS_STDOUT_KEPT;
    for (pawl_str part; str_next(&output, '\n', &part);) {
        pawl_str line = str_trim(part);
        bool snooze = line_says(line, STR("pawl:snooze"), &directive);
        if (snooze || line_says(line, STR("pawl:retry-after"), &directive)) {
            directive.problem[0] = '\0';
            directive.snooze = snooze && exited && end->status == PROGRAM_SNOOZE_EXIT;
            if (snooze && exited && !directive.snooze)
                snprintf(directive.problem, sizeof(directive.problem),
                         "pawl:snooze counts with exit code %d only", PROGRAM_SNOOZE_EXIT);
            if (directive.delay_ms > PAWL_RETRY_MS_MAX)
                directive.delay_ms = PAWL_RETRY_MS_MAX;
            return directive;
        }
    }
    return directive;
}

/* Told to end by a person or by the worker: nothing is known about the work itself. */
static bool told_to_end(const struct process_end *end) {
    return end->outcome == PROCESS_CANCELLED || end->outcome == PROCESS_STOPPED ||
           end->outcome == PROCESS_FENCED;
}

struct program_verdict program_judge(const struct process_end *end, pawl_str output, int64_t timeout_ms) {
    struct program_verdict verdict = {.delay_ms = -1};
    struct directive directive = read_directive(output, end);
    if (told_to_end(end))
        verdict.outcome = HANDLED_NOT_RUN;
    else if (process_done(end))
        verdict.outcome = HANDLED_DONE;
    else {
        verdict.outcome = directive.snooze         ? HANDLED_SNOOZE
                          : process_permanent(end) ? HANDLED_PERMANENT
                                                   : HANDLED_RETRY;
        verdict.delay_ms = directive.delay_ms;
    }
    process_explain(end, timeout_ms, verdict.error, sizeof(verdict.error));
    size_t at = strlen(verdict.error);
    if (directive.problem[0] != '\0')
        snprintf(verdict.error + at, sizeof(verdict.error) - at, "%s%s", at > 0 ? "; " : "",
                 directive.problem);
    return verdict;
}
