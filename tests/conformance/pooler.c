/* A real PgBouncer in transaction mode, for as long as a test runs. */
#include "conformance/pooler.h"

#include <arpa/inet.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct pooler {
    pid_t pid;
    char dir[64];
    int port;
};

struct address {
    char host[256], port[16], user[64], database[64];
};

static bool address_of(const char *url, struct address *address) {
    char *reason = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &reason);
    PQfreemem(reason);
    memset(address, 0, sizeof *address);
    for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++) {
        const char *value = option->val != NULL ? option->val : "";
        if (strcmp(option->keyword, "host") == 0)
            snprintf(address->host, sizeof address->host, "%s", value);
        else if (strcmp(option->keyword, "port") == 0)
            snprintf(address->port, sizeof address->port, "%s", value);
        else if (strcmp(option->keyword, "user") == 0)
            snprintf(address->user, sizeof address->user, "%s", value);
        else if (strcmp(option->keyword, "dbname") == 0)
            snprintf(address->database, sizeof address->database, "%s", value);
    }
    PQconninfoFree(options);
    return address->database[0] != '\0';
}

/* A port that was free a moment ago; a loser of the race shows up as a pooler that does not answer. */
static int free_port(void) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof where;
    int port = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&where, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&where, &size) == 0)
        port = ntohs(where.sin_port);
    if (fd >= 0)
        close(fd);
    return port;
}

static bool write_config(const struct pooler *pooler, const struct address *server) {
    char path[128];
    snprintf(path, sizeof path, "%s/pgbouncer.ini", pooler->dir);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(file,
            "[databases]\n* = host=%s port=%s user=%s\n"
            "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"
            "auth_type = any\npool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 8\n"
            "logfile = %s/pgbouncer.log\n",
            server->host, server->port[0] != '\0' ? server->port : "5432",
            server->user[0] != '\0' ? server->user : "postgres", pooler->port, pooler->dir);
    return fclose(file) == 0;
}

/* The pooler's own user writes its log there. */
static bool hand_over_directory(const struct pooler *pooler) {
    if (geteuid() != 0)
        return true;
    const struct passwd *user = getpwnam("postgres");
    return user != NULL && chown(pooler->dir, user->pw_uid, user->pw_gid) == 0 &&
           chmod(pooler->dir, 0755) == 0;
}

/* In the child: PgBouncer refuses to run as root. False when the user cannot be changed. */
static bool become_postgres(void) {
    if (geteuid() != 0)
        return true;
    const struct passwd *user = getpwnam("postgres");
    return user != NULL && setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0;
}

static pid_t run(const struct pooler *pooler) {
    char path[128];
    snprintf(path, sizeof path, "%s/pgbouncer.ini", pooler->dir);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    /* A test that is killed takes its pooler along. A change of user would cancel that, so it comes first. */
    if (!become_postgres() || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        _exit(127);
    execlp("pgbouncer", "pgbouncer", "-q", path, (char *)NULL);
    _exit(127);
}

static bool answers(const char *url, pid_t pid) {
    for (int i = 0; i < 500; i++) {
        PGconn *conn = PQconnectdb(url);
        bool up = PQstatus(conn) == CONNECTION_OK;
        if (!up && i == 499)
            fprintf(stderr, "pooler: %s", PQerrorMessage(conn));
        PQfinish(conn);
        if (up)
            return true;
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

struct pooler *pooler_start(const char *server_url) {
    char url[PGSERVER_URL_BYTES];
    struct address server;
    struct pooler *pooler = calloc(1, sizeof *pooler);
    if (pooler == NULL)
        return NULL;
    pooler->port = free_port();
    snprintf(pooler->dir, sizeof pooler->dir, "/tmp/pawl-pooler-XXXXXX");
    if (!address_of(server_url, &server) || pooler->port == 0 || mkdtemp(pooler->dir) == NULL ||
        !write_config(pooler, &server) || !hand_over_directory(pooler)) {
        free(pooler);
        return NULL;
    }
    pooler_address(pooler, server_url, url);
    pooler->pid = run(pooler);
    if (pooler->pid < 0 || !answers(url, pooler->pid)) {
        fprintf(stderr, "pooler: pgbouncer did not start; its log is in %s\n", pooler->dir);
        free(pooler);
        return NULL;
    }
    return pooler;
}

void pooler_address(const struct pooler *pooler, const char *direct_url,
                    char url[static PGSERVER_URL_BYTES]) {
    struct address server;
    if (!address_of(direct_url, &server))
        snprintf(server.database, sizeof server.database, "postgres");
    snprintf(url, PGSERVER_URL_BYTES, "postgresql://postgres@127.0.0.1:%d/%s", pooler->port, server.database);
}

void pooler_stop(struct pooler *pooler) {
    if (pooler == NULL)
        return;
    char path[128];
    kill(pooler->pid, SIGTERM);
    waitpid(pooler->pid, NULL, 0);
    snprintf(path, sizeof path, "%s/pgbouncer.ini", pooler->dir);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/pgbouncer.log", pooler->dir);
    (void)unlink(path);
    if (rmdir(pooler->dir) != 0)
        fprintf(stderr, "pooler: %s is left behind\n", pooler->dir);
    free(pooler);
}
