/* pawl monitor: the live state of the system on one screen. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/fleet/monitor_view.h"

enum { INTERVAL_S_DEFAULT = 2, INTERVAL_S_MAX = 86400, NARROW = 40, LOW = 6 };

struct monitor {
    struct cli *cli;
    FILE *file;
    bool screen;
    int columns, rows;
    int signal_fd;
    bool ended;
};

/* A terminal that is too small for the screen gets lines. */
static void measure(struct monitor *monitor) {
    struct winsize size;
    bool terminal = !output_is_json(&monitor->cli->output) && isatty(fileno(monitor->file));
    if (!terminal || ioctl(fileno(monitor->file), TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    monitor->columns = size.ws_col;
    monitor->rows = size.ws_row;
    monitor->screen = monitor->columns >= NARROW && monitor->rows >= LOW;
}

/* From the top, each line's rest cleared, and everything below: nothing flickers, nothing stays. */
static void draw(struct monitor *monitor, const struct buf *text) {
    fputs("\033[H", monitor->file);
    for (size_t at = 0; at < text->len;) {
        size_t end = at;
        while (end < text->len && text->ptr[end] != '\n')
            end++;
        fwrite(text->ptr + at, 1, end - at, monitor->file);
        fputs("\033[K\r\n", monitor->file);
        at = end + 1;
    }
    fputs("\033[J", monitor->file);
}

/* Lines of a narrow terminal are cut as well: they must not wrap. */
static void print(struct monitor *monitor, const struct monitor_look *look,
                  const struct monitor_totals *before, struct buf *text) {
    buf_reset(text);
    if (output_is_json(&monitor->cli->output))
        monitor_json(look, before, text);
    else if (monitor->screen)
        monitor_screen(look, before, monitor->columns, monitor->rows - 1, text);
    else
        monitor_line(look, before, text);
    if (text->failed)
        return;
    if (monitor->screen) {
        draw(monitor, text);
    } else {
        size_t len = monitor->columns > 0 && text->len > (size_t)monitor->columns ? (size_t)monitor->columns
                                                                                  : text->len;
        fprintf(monitor->file, "%.*s\n", (int)len, text->ptr);
    }
    fflush(monitor->file);
    monitor->ended = ferror(monitor->file) != 0;
}

/* Until the time is over; a new size of the terminal ends the wait, a stop ends everything. */
static void rest(struct monitor *monitor, int64_t until_ms) {
    for (int64_t left_ms; !monitor->ended && (left_ms = until_ms - clock_boot_ms()) > 0;) {
        struct pollfd fd = {.fd = monitor->signal_fd, .events = POLLIN};
        struct signalfd_siginfo info;
        if (poll(&fd, 1, (int)left_ms) <= 0)
            continue;
        if (read(monitor->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
            continue;
        if (info.ssi_signo == SIGWINCH) {
            bool before = monitor->screen;
            measure(monitor);
            if (before || monitor->screen)
                fputs("\033[2J\033[H", monitor->file);
            return;
        }
        monitor->ended = true;
    }
}

/* Seconds, or a duration with its unit. */
static bool read_interval(struct value interval, int64_t *interval_ms) {
    int64_t seconds = INTERVAL_S_DEFAULT;
    if (!interval.present || str_to_i64(interval.text, 1, INTERVAL_S_MAX, &seconds)) {
        *interval_ms = seconds * 1000;
        return true;
    }
    return clock_parse_duration(interval.text, interval_ms) && *interval_ms > 0 &&
           *interval_ms <= INTERVAL_S_MAX * 1000;
}

static pawl_status check(struct request *request, pawl_error *err) {
    struct value interval = request_value(request, "interval");
    int64_t interval_ms;
    return read_interval(interval, &interval_ms)
               ? PAWL_OK
               : error_set(err, PAWL_INVALID, "monitor",
                           "--interval is \"%.*s\", which is not a duration such as 5s, up to a day",
                           STR_ARG(interval.text));
}

static pawl_status watch(struct monitor *monitor, pawl_error *err) {
    struct value looks_max = cli_value(monitor->cli, "looks");
    int64_t interval_ms = 0;
    (void)read_interval(cli_value(monitor->cli, "interval"), &interval_ms); /* checked before */
    struct monitor_totals before = {.at_ms = 0};
    struct arena *arena = arena_create(0);
    pawl_status status = arena != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "monitor", "out of memory");
    AUTO_BUF(text, 0);
    int64_t due_ms = clock_boot_ms();
    for (int64_t looks = 1; status == PAWL_OK && !monitor->ended; looks++) {
        struct monitor_look *look = arena_alloc(arena, sizeof *look);
        status = look != NULL ? monitor_look(monitor->cli->store, arena, look, err)
                              : error_set(err, PAWL_NO_MEMORY, "monitor", "out of memory");
        if (status != PAWL_OK)
            break;
        print(monitor, look, before.at_ms > 0 ? &before : NULL, &text);
        /* A new size shows the same moment again: the rates stay those of a whole interval. */
        if (clock_boot_ms() >= due_ms || before.at_ms == 0) {
            before = monitor_totals(look);
            due_ms = clock_boot_ms() + interval_ms;
        }
        arena_reset(arena);
        if (looks_max.present && looks >= looks_max.number)
            break;
        rest(monitor, due_ms);
    }
    arena_free(arena);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct monitor monitor = {.cli = cli, .file = cli->output.file};
    sigset_t signals = thread_stop_signals(), old;
    sigaddset(&signals, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &signals, &old);
    monitor.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (monitor.signal_fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "monitor", errno, "cannot wait for signals");
    measure(&monitor);
    bool terminal = monitor.screen;
    if (terminal) /* another screen, without a cursor: what was there comes back after it */
        fputs("\033[?1049h\033[?25l\033[2J", monitor.file);
    pawl_status status = watch(&monitor, err);
    if (terminal)
        fputs("\033[?25h\033[?1049l", monitor.file);
    fflush(monitor.file);
    close(monitor.signal_fd);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

static const struct field fields[] = {
    {TEXT_FIELD(IN_TERMINAL, "interval", 32,
                "Time between refreshes; 2s if not given. A plain number is seconds."),
     .value = "DURATION"},
    {INT_FIELD(IN_TERMINAL, "looks", 1, 1000000000, "Stop after N refreshes.")}};

static const struct operation commands[] = {
    {OPERATION("monitor", "Watch throughput, lag, ages, workers and alerts as they change"), FIELDS(fields),
     .details = "On a terminal, a screen that is redrawn every --interval and fits the terminal; "
                "elsewhere, and below 40 columns, one line each time; with -o json, one object per line. "
                "Ends after --looks refreshes, or with Ctrl-C. It only reads: workers and the server "
                "evaluate the alert rules and recover the work of silent workers.",
     .example = "pawl monitor --interval 5s\npawl monitor -o json --looks 1 | jq .alerts", .check = check,
     .terminal = run},
};

const struct operation_table monitor_commands = OPERATION_TABLE(commands);
