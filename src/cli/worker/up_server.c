/* The server that pawl up runs beside its worker. */
#include "cli/worker/up_server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { STOP_MS = 8000, NAP_NS = 20000000 };

/* Options are passed through the environment, where other users cannot see a password. */
static int pass_on(const struct options *options) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_value *value = &options->values[id];
        if (value->source != OPTION_FROM_FLAG && value->source != OPTION_FROM_FILE)
            continue;
        if (option_rows[id].environment != NULL && !str_absent(value->text) &&
            setenv(option_rows[id].environment, value->text.ptr, 1) != 0)
            return -1;
    }
    return 0;
}

static void say_failed(void) {
    pawl_error err;
    (void)error_errno(&err, PAWL_UNAVAILABLE, "up", errno, "the server cannot be started");
    fprintf(stderr, "pawl: %s\n", err.text);
}

static _Noreturn void become_server(const struct cli *cli, pid_t parent) {
    char *arguments[] = {(char[]){"pawl"}, (char[]){"server"}, NULL};
    /* Without its worker it has no reason to stay. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && pass_on(&cli->arguments.options) == 0)
        execv("/proc/self/exe", arguments);
    say_failed();
    _exit(1);
}

pid_t up_server_start(const struct cli *cli) {
    pid_t parent = getpid(), server = fork();
    if (server == 0)
        become_server(cli, parent);
    if (server < 0)
        say_failed();
    return server;
}

void up_server_stop(pid_t server) {
    if (server <= 0)
        return;
    int64_t until_ms = clock_boot_ms() + STOP_MS;
    kill(server, SIGTERM);
    while (waitpid(server, NULL, WNOHANG) == 0) {
        if (clock_boot_ms() >= until_ms) {
            kill(server, SIGKILL);
            until_ms = INT64_MAX;
        }
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    }
}
