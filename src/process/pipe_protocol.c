/* What a kept program says, line by line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json/tree.h"
#include "base/limits.h"
#include "base/str.h"
#include "process/pipe_int.h"

enum { SHOWN_BYTES = 120, LOGGED_BYTES = 2000, EXIT_RETRY = 75, EXIT_REJECT = 65 };

static void wrong(struct pipe_process *process, pawl_str line, const char *what) {
    char shown[SHOWN_BYTES], why[sizeof(process->fault)];
    process_words(line, shown, sizeof(shown));
    snprintf(why, sizeof(why), "it wrote %s, which is %s", shown, what);
    pipe_kill(process, why);
}

static void take_ready(struct pipe_process *process, const struct tree *said, pawl_str line) {
    struct pipe *pipe = process->pipe;
    const struct tree *ready = tree_get_cstr(said, "ready"), *number = tree_get_cstr(said, "at_once");
    int64_t at_once = 1;
    if (ready == NULL || ready->kind != TREE_TRUE) {
        wrong(process, line, "not {\"ready\": true}");
        return;
    }
    if (number != NULL && (!tree_to_i64(number, &at_once) || at_once < 1 || at_once > PIPE_AT_ONCE_MAX)) {
        wrong(process, line, "no number of items from 1 to 1000");
        return;
    }
    process->state = PIPE_READY;
    process->due_ms = 0;
    process->at_once = pipe->at_once = (int)at_once;
    start_succeeded(launcher_failures(pipe->pipes->launcher), pipe->command);
    pthread_cond_broadcast(&pipe->room);
}

static void take_log(const struct pipe_process *process, const struct tree *said, pawl_str text) {
    static const char *const names[] = {"debug", "info", "warn", "error"};
    pawl_str wanted = tree_get_text(said, "level");
    enum log_level level = LOG_LEVEL_INFO;
    for (int i = 0; i < 4 && !str_absent(wanted); i++) {
        if (str_equal_cstr(wanted, names[i]))
            level = (enum log_level)i;
    }
    char words[LOGGED_BYTES];
    process_words(text, words, sizeof(words));
    log_event(process->pipe->pipes->log, level, "handler_log", "handler=%s pid=%d text=%s",
              process->pipe->config.name, (int)process->process.child.pid, words);
}

void pipe_item_over(struct pipe_item *item) {
    struct pipe_process *process = item->process;
    struct pipe_item **at = &process->items;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    process->in_flight--;
    if (process->reserved == item)
        process->reserved = NULL;
    item->over = true;
    pthread_cond_signal(&item->changed);
    if (process->pipe->waiting > 0)
        pthread_cond_broadcast(&process->pipe->room);
}

/* False: the result is not one that the protocol has. */
static bool take_result(struct pipe_item *item, const struct tree *said, pawl_str result) {
    static const struct {
        const char *name;
        enum pipe_result result;
        int exit_code;
    } known[] = {{"done", PIPE_DONE, 0},
                 {"retry", PIPE_RETRY, EXIT_RETRY},
                 {"reject", PIPE_REJECT, EXIT_REJECT},
                 {"snooze", PIPE_SNOOZE, EXIT_RETRY}};
    struct pipe_process *process = item->process;
    struct pipe_answer *answer = item->answer;
    const struct tree *after = tree_get_cstr(said, "after_ms"), *output = tree_get_cstr(said, "output");
    pawl_str error = tree_get_text(said, "error");
    size_t at = 0;
    while (at < 4 && !str_equal_cstr(result, known[at].name))
        at++;
    if (at == 4 || (after != NULL && (!tree_to_i64(after, &answer->after_ms) || answer->after_ms < 0)))
        return false;
    answer->result = known[at].result;
    answer->end = (struct process_end){.outcome = PROCESS_EXITED, .status = known[at].exit_code};
    if (answer->after_ms > PAWL_RETRY_MS_MAX)
        answer->after_ms = PAWL_RETRY_MS_MAX;
    if (answer->result == PIPE_SNOOZE && answer->after_ms <= 0)
        answer->after_ms = PIPE_SNOOZE_MS_DEFAULT;
    if (answer->result == PIPE_DONE && output != NULL)
        tree_write(&answer->output, output);
    if (answer->result != PIPE_DONE)
        process_words(error.len > 0 ? error : STR("the handler gave no reason"), answer->error,
                      sizeof(answer->error));
    process->pipe->failures = 0;
    process->taken++;
    pipe_item_over(item);
    int recycle_after = process->pipe->config.recycle_after;
    if (process->retiring || (recycle_after > 0 && process->taken >= recycle_after))
        pipe_retire(process);
    return true;
}

static struct pipe_item *find(const struct pipe_process *process, const struct tree *id) {
    int64_t number = 0;
    struct pipe_item *item = tree_to_i64(id, &number) ? process->items : NULL;
    while (item != NULL && item->id != number)
        item = item->next;
    return item;
}

void pipe_take_line(struct pipe_process *process, pawl_str line) {
    struct arena *arena = process->pipe->pipes->scratch;
    const struct tree *said = NULL;
    line = str_trim(line);
    if (line.len == 0 || process->fault[0] != '\0')
        return;
    arena_reset(arena);
    if (tree_parse(arena, line, NULL, &said, NULL) != PAWL_OK || said->kind != TREE_OBJECT) {
        wrong(process, line, "not an object in JSON");
        return;
    }
    pawl_str log = tree_get_text(said, "log"), result = tree_get_text(said, "result");
    const struct tree *progress = tree_get_cstr(said, "progress"), *id = tree_get_cstr(said, "id");
    if (!str_absent(log))
        take_log(process, said, log);
    else if (process->state == PIPE_STARTING)
        take_ready(process, said, line);
    else if (str_absent(result) && progress == NULL)
        wrong(process, line, "not a result, progress or log");
    if (process->state == PIPE_STARTING || (str_absent(result) && progress == NULL))
        return;
    struct pipe_item *item = id != NULL ? find(process, id) : NULL;
    if (item == NULL) {
        wrong(process, line, "about no item that it has");
        return;
    }
    if (progress != NULL) {
        buf_reset(&item->progress);
        tree_write(&item->progress, progress);
        pthread_cond_signal(&item->changed);
    }
    if (!str_absent(result) && !take_result(item, said, result))
        wrong(process, line, "no result of the protocol");
}
