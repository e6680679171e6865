/* A PostgreSQL for test programs. */
#include "support/pgserver.h"

#include <libpq-fe.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL PAWL_SOURCE_ROOT "/tools/pg-throwaway"

extern char **environ;

/* Runs the tool and returns its output, or NULL when it failed. The caller frees. */
static char *tool_output(char *const argv[]) {
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t pid = 0;
    int rc = posix_spawn(&pid, TOOL, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char *text = calloc(1, 4096);
    size_t used = 0;
    ssize_t got = 0;
    while (rc == 0 && text != NULL && used < 4095 && (got = read(ends[0], text + used, 4095 - used)) > 0)
        used += (size_t)got;
    close(ends[0]);
    int state = 0;
    if (rc != 0 || waitpid(pid, &state, 0) < 0 || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Copies the value of "key=value\n" out of text. */
static bool take(const char *text, const char *key, char *value, size_t size) {
    size_t key_len = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, key, key_len) == 0 && line[key_len] == '=') {
            const char *from = line + key_len + 1;
            size_t len = end != NULL ? (size_t)(end - from) : strlen(from);
            if (len >= size)
                return false;
            memcpy(value, from, len);
            value[len] = '\0';
            return true;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return false;
}

struct pgserver *pgserver_start(bool fsync) {
    char owner[32];
    char pid[32];
    snprintf(owner, sizeof owner, "%ld", (long)getpid());
    char *argv[] = {(char[]){"pg-throwaway"},
                    (char[]){"start"},
                    (char[]){"--owner-pid"},
                    owner,
                    fsync ? (char[]){"--fsync"} : NULL,
                    NULL};
    char *text = tool_output(argv);
    struct pgserver *server = calloc(1, sizeof *server);
    if (text == NULL || server == NULL || !take(text, "url", server->url, sizeof server->url) ||
        !take(text, "socket_url", server->socket_url, sizeof server->socket_url) ||
        !take(text, "dir", server->dir, sizeof server->dir) ||
        !take(text, "bindir", server->bindir, sizeof server->bindir) || !take(text, "pid", pid, sizeof pid)) {
        free(server);
        server = NULL;
    } else {
        server->pid = (pid_t)strtol(pid, NULL, 10);
    }
    free(text);
    return server;
}

void pgserver_stop(struct pgserver *server) {
    if (server == NULL)
        return;
    char *argv[] = {(char[]){"pg-throwaway"}, (char[]){"stop"}, server->dir, NULL};
    free(tool_output(argv));
    free(server);
}

/* The program's own shared server, when the run did not bring one. */
static struct pgserver *own_server;

static void stop_own_server(void) {
    pgserver_stop(own_server);
    own_server = NULL;
}

const char *pgserver_url(void) {
    const char *given = getenv("PAWL_TEST_PG_URL");
    if (given != NULL && given[0] != '\0')
        return given;
    if (own_server == NULL) {
        own_server = pgserver_start(false);
        if (own_server != NULL)
            atexit(stop_own_server);
    }
    return own_server != NULL ? own_server->url : NULL;
}

bool pgserver_execute(const char *url, const char *sql) {
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType state = PQresultStatus(result);
    bool ok = state == PGRES_COMMAND_OK || state == PGRES_TUPLES_OK;
    if (!ok)
        fprintf(stderr, "pgserver: %s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    return ok;
}

bool pgserver_create_database(const char *hint, char url[static PGSERVER_URL_BYTES]) {
    static int count;
    const char *server = pgserver_url();
    if (server == NULL)
        return false;
    char name[64];
    char sql[128];
    snprintf(name, sizeof name, "pawl_%.30s_%ld_%d", hint, (long)getpid(), ++count);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    if (!pgserver_execute(server, sql))
        return false;
    /* postgresql://user@host:port/postgres[?…]: the database is what follows the third slash. */
    const char *rest = strstr(server, "://");
    const char *slash = rest != NULL ? strchr(rest + 3, '/') : NULL;
    if (slash == NULL)
        return false;
    const char *query = strchr(slash, '?');
    int len = snprintf(url, PGSERVER_URL_BYTES, "%.*s/%s%s", (int)(slash - server), server, name,
                       query != NULL ? query : "");
    return len > 0 && len < PGSERVER_URL_BYTES;
}

void pgserver_drop_database(const char *url) {
    const char *server = pgserver_url();
    const char *rest = strstr(url, "://");
    const char *slash = rest != NULL ? strchr(rest + 3, '/') : NULL;
    if (server == NULL || slash == NULL)
        return;
    char sql[160];
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %.*s WITH (FORCE)", (int)strcspn(slash + 1, "?"),
             slash + 1);
    (void)pgserver_execute(server, sql); /* a left-over database ends with its server */
}
