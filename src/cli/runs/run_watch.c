/* Following a run on the terminal until it ends (--watch). */
#include "cli/runs/run_watch.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "view/run.h"

enum { LOOK_MS = 1000, SAMPLES = 10 /* the rate is over this many looks */ };

struct sample {
    struct run_row run;
    int64_t now_ms;
};

/* A bar that stays in its place on a terminal, lines elsewhere, objects for programs. */
static pawl_status print(struct cli *cli, const struct run_row *run, const struct run_gauge *gauge,
                         struct arena *arena, pawl_error *err) {
    FILE *file = cli->output.file;
    const char *line = NULL;
    struct cell cells[RUN_COLUMNS];
    if (output_is_json(&cli->output)) {
        AUTO_BUF(text, 0);
        run_view_cells(arena, run, gauge, cells);
        output_cells_json(&text, run_columns, RUN_COLUMNS, cells);
        TRY(buf_status(&text, "run", err));
        fprintf(file, "%.*s\n", (int)text.len, text.ptr);
        fflush(file);
        return PAWL_OK;
    }
    TRY(run_view_line(arena, run, gauge, &line, err));
    if (isatty(fileno(file)))
        fprintf(file, "\r\033[K%s%s", line, run_view_ended(run) ? "\n" : "");
    else
        fprintf(file, "%s\n", line);
    fflush(file);
    return PAWL_OK;
}

static pawl_status judge(const struct run_row *run, pawl_error *err) {
    if (run->state == RUN_IS_COMPLETED)
        return PAWL_OK;
    return error_set(err, PAWL_CONFLICT, "run", "the run %lld was not completed: it is %s%s%.*s",
                     (long long)run->id, run_state_name(run->state), str_absent(run->error) ? "" : ": ",
                     STR_ARG(run->error));
}

pawl_status run_watch(struct cli *cli, const char *word, pawl_error *err) {
    struct value timeout = cli_value(cli, "timeout_ms");
    int64_t until_ms = timeout.present ? clock_boot_ms() + timeout.number : INT64_MAX;
    struct sample samples[SAMPLES];
    struct arena *arena = arena_create(0);
    pawl_status status = arena != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "run", "out of memory");
    thread_interrupt_ends();
    for (size_t looks = 0; status == PAWL_OK; looks++) {
        struct sample now;
        arena_reset(arena);
        status = run_view_find(cli->store, str_from(word), arena, &now.run, &now.now_ms, err);
        if (status != PAWL_OK)
            break;
        const struct sample *before = looks == 0        ? NULL
                                      : looks < SAMPLES ? &samples[0]
                                                        : &samples[looks % SAMPLES];
        struct run_gauge gauge = run_view_gauge(&now.run, now.now_ms, before != NULL ? &before->run : NULL,
                                                before != NULL ? now.now_ms - before->now_ms : 0);
        samples[looks % SAMPLES] = now; /* of its texts, which the next look frees, nothing is used */
        status = print(cli, &now.run, &gauge, arena, err);
        if (status == PAWL_OK && run_view_ended(&now.run)) {
            status = judge(&now.run, err);
            break;
        }
        if (status == PAWL_OK && clock_boot_ms() >= until_ms)
            status = error_set(err, PAWL_BUSY, "run", "the run %lld has not ended in that time",
                               (long long)now.run.id);
        if (status == PAWL_OK && ferror(cli->output.file) == 0)
            nanosleep(&(struct timespec){LOOK_MS / 1000, LOOK_MS % 1000 * 1000000L}, NULL);
        else
            break;
    }
    arena_free(arena);
    return status;
}
