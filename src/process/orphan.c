/* Finding and killing descendants that left their handler's session. */
#include "process/orphan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

enum { ENVIRON_BYTES_MAX = 131072, ROUNDS_MAX = 64 };

static ssize_t read_proc(pid_t pid, const char *file, char *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = 0;
    while (len < size) {
        ssize_t got = read(fd, bytes + len, size - len);
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    close(fd);
    return (ssize_t)len;
}

/* "pid (name) state ppid": the name may hold anything, so the last parenthesis counts. */
static pid_t parent_of(pid_t pid) {
    char text[512];
    ssize_t len = read_proc(pid, "stat", text, sizeof(text) - 1);
    if (len <= 0)
        return -1;
    text[len] = '\0';
    const char *end = strrchr(text, ')');
    int parent = -1;
    if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1)
        return -1;
    return parent;
}

struct known {
    struct launcher *const *launchers;
    size_t count;
    const struct orphan_others *others;
};

static bool has_run(const struct known *known, const char *run) {
    for (size_t i = 0; i < known->count; i++) {
        if (launcher_has_run(known->launchers[i], run))
            return true;
    }
    return false;
}

/* Whether the process was started by a handler that still runs. A process that cleared its environment cannot
 * be assigned to a handler; it is left alone while any handler runs that it could belong to. */
static bool belongs(pid_t pid, const struct known *known) {
    static const char name[] = "PAWL_RUN=";
    if (!has_run(known, NULL))
        return false;
    char *bytes = malloc(ENVIRON_BYTES_MAX + 1);
    if (bytes == NULL)
        return true;
    ssize_t len = read_proc(pid, "environ", bytes, ENVIRON_BYTES_MAX);
    const char *run = NULL;
    if (len > 0) {
        bytes[len] = '\0';
        for (char *at = bytes; at < bytes + len; at += strlen(at) + 1) {
            if (strncmp(at, name, sizeof(name) - 1) == 0)
                run = at + sizeof(name) - 1;
        }
    }
    bool kept = run == NULL || has_run(known, run);
    free(bytes);
    return kept;
}

static bool is_known(pid_t pid, const struct known *known) {
    for (size_t i = 0; i < known->others->count; i++) {
        if (known->others->pids[i] == pid)
            return true;
    }
    for (size_t i = 0; i < known->count; i++) {
        if (launcher_has_child(known->launchers[i], pid))
            return true;
    }
    return belongs(pid, known);
}

/* The next child of this process that /proc lists; 0 at the end. */
static pid_t next_child(DIR *dir) {
    pid_t self = getpid();
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        int64_t number = 0;
        if (str_to_i64(str_from(entry->d_name), 2, INT32_MAX, &number) && parent_of((pid_t)number) == self)
            return (pid_t)number;
    }
    return 0;
}

bool orphan_adopt(struct orphan_others *others) {
    others->count = 0;
    DIR *dir = opendir("/proc");
    for (pid_t pid; dir != NULL && (pid = next_child(dir)) != 0; others->count++) {
        if (others->count < ORPHAN_OTHERS_MAX)
            others->pids[others->count] = pid;
    }
    if (dir != NULL)
        closedir(dir);
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static int sweep_once(const struct known *known) {
    int found = 0;
    DIR *dir = opendir("/proc");
    if (dir == NULL)
        return 0;
    for (pid_t pid; (pid = next_child(dir)) != 0;) {
        if (is_known(pid, known))
            continue;
        found++;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0); /* it cannot refuse; its children become ours */
    }
    closedir(dir);
    return found;
}

int orphan_sweep(struct launcher *const *launchers, size_t count, const struct orphan_others *others) {
    struct known known = {launchers, count, others};
    siginfo_t info;
    int total = 0, found = 0, rounds = 0;
    if (others->count > ORPHAN_OTHERS_MAX)
        return 0;
    /* No child starts or ends meanwhile. */
    for (size_t i = 0; i < count; i++)
        launcher_lock(launchers[i]);
    /* No child at all is the common case, and costs one system call. */
    bool none = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    while (!none && rounds++ < ROUNDS_MAX && (found = sweep_once(&known)) > 0)
        total += found;
    for (size_t i = 0; i < count; i++)
        launcher_unlock(launchers[i]);
    return total;
}
