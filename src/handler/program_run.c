/* Having a program handle an item, started for it or kept. */
#include "handler/program_run.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/message.h"

/* A line of the output of a program that is started for its item. */
static void take_line(void *self, pawl_str line) {
    const struct program_call *call = self;
    pawl_str prefix = STR("pawl:progress ");
    if (str_starts_with(line, prefix))
        call->on_progress(call->self, str_trim((pawl_str){line.ptr + prefix.len, line.len - prefix.len}));
}

static void run_process(const struct program_call *call, struct program_result *result) {
    pawl_error err = {0};
    struct process_spec spec = {.argv = call->argv,
                                .pairs = call->pairs,
                                .pair_count = call->pair_count,
                                .input = call->body,
                                .out_max = call->out_max,
                                .out_kept = call->out_kept,
                                .on_line = call->on_progress != NULL ? take_line : NULL,
                                .self = (void *)(uintptr_t)call};
    result->status =
        process_run(call->launcher, &spec, &call->limits, &result->output, &result->process, &err);
    if (result->status == PAWL_OK)
        result->verdict = program_judge(&result->process, buf_str(&result->output), call->timeout_ms);
    else
        snprintf(result->verdict.error, PROGRAM_ERROR_BYTES, "%s", err.text);
}

static void write_members(struct buf *line, const struct program_call *call) {
    struct json_writer json;
    json_writer_init(&json, line);
    json_begin_object(&json);
    json_put_raw(&json, call->what, str_trim(call->body));
    for (size_t i = 0; i < call->name_count; i++) {
        if (call->names[i].value != NULL)
            json_put_str(&json, call->names[i].name, str_from(call->names[i].value));
    }
    if (call->attempt > 0)
        json_put_int(&json, "attempt", call->attempt);
}

static void run_kept(const struct program_call *call, struct program_result *result) {
    static const enum handler_outcome meant[] = {[PIPE_DONE] = HANDLED_DONE,
                                                 [PIPE_RETRY] = HANDLED_RETRY,
                                                 [PIPE_REJECT] = HANDLED_PERMANENT,
                                                 [PIPE_SNOOZE] = HANDLED_SNOOZE};
    struct program_verdict *verdict = &result->verdict;
    struct pipe_answer answer;
    struct buf line;
    buf_init(&line, 0);
    write_members(&line, call);
    if (line.failed) {
        snprintf(verdict->error, sizeof(verdict->error), "out of memory");
        result->status = PAWL_NO_MEMORY;
        buf_free(&line);
        return;
    }
    pawl_str members = buf_str(&line);
    pipe_run(call->pipe,
             &(struct pipe_call){.members = {members.ptr + 1, members.len - 1}, /* without the brace */
                                 .limits = call->limits,
                                 .fence_ms = call->fence_ms,
                                 .asked = call->asked,
                                 .on_progress = call->on_progress,
                                 .self = call->self},
             &answer);
    buf_free(&line);
    result->process = answer.end;
    result->output = answer.output;
    result->unanswered = answer.result == PIPE_NONE && answer.end.outcome != PROCESS_NOT_STARTED;
    if (answer.end.outcome == PROCESS_NOT_STARTED)
        result->status = PAWL_UNAVAILABLE;
    else if (result->unanswered)
        *verdict = program_judge(&answer.end, (pawl_str){NULL, 0}, call->timeout_ms);
    if (answer.result != PIPE_NONE)
        verdict->outcome = meant[answer.result];
    verdict->delay_ms = answer.after_ms;
    if (call->out_max > 0 && answer.output.len > call->out_max)
        result->process.outcome = PROCESS_FLOODED;
    if (answer.end.outcome != PROCESS_TIMED_OUT)
        snprintf(verdict->error, sizeof(verdict->error), "%s", answer.error);
}

void program_run(const struct program_call *call, struct program_result *result) {
    *result = (struct program_result){.process = {.outcome = PROCESS_NOT_STARTED}, .verdict.delay_ms = -1};
    buf_init(&result->output, 0);
    if (call->pipe != NULL)
        run_kept(call, result);
    else
        run_process(call, result);
}

void program_message(const struct message_call *call, struct handler_verdict *verdict) {
    struct environment_pair pairs[ENVIRONMENT_PAIRS_MAX + 2];
    struct environment_pair names[] = {{"receptor", call->receptor}};
    size_t count = 0;
    struct program_result result = {.process = {.outcome = PROCESS_NOT_STARTED}};
    struct arena *arena = arena_create(0);
    struct buf body;
    buf_init(&body, 0);
    work_message_json(&body, call->item);
    if (call->handler->pipe == NULL && arena != NULL) {
        buf_append_char(&body, '\n');
        count = environment_pairs(call->item, arena, pairs);
        pairs[count++] = (struct environment_pair){"PAWL_RECEPTOR", call->receptor};
        pairs[count++] = (struct environment_pair){"PAWL_VERSION", call->version};
    }
    if (arena != NULL && !body.failed)
        program_run(&(struct program_call){.argv = call->handler->argv,
                                           .launcher = call->launcher,
                                           .pipe = call->handler->pipe,
                                           .what = "message",
                                           .body = buf_str(&body),
                                           .pairs = pairs,
                                           .pair_count = count,
                                           .names = names,
                                           .name_count = 1,
                                           .out_kept = PROCESS_STDOUT_KEPT,
                                           .limits = call->limits,
                                           .fence_ms = call->fence_ms,
                                           .asked = call->asked,
                                           .timeout_ms = call->handler->timeout_ms},
                    &result);
    verdict->outcome = result.verdict.outcome;
    verdict->delay_ms = result.verdict.delay_ms;
    if (result.process.outcome == PROCESS_NOT_STARTED) { /* the worker's fault: nothing was tried */
        verdict->outcome = HANDLED_SNOOZE;
        verdict->delay_ms = result.process.wait_ms > 0 ? result.process.wait_ms : START_FAILURE_WAIT_MS_MIN;
    }
    snprintf(verdict->error, sizeof(verdict->error), "%.511s", result.verdict.error);
    buf_free(&result.output);
    buf_free(&body);
    arena_free(arena);
}

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
