/* Waking workers on SQLite: a file next to the database whose time stamp changes, or that is written to. */
#include "store/sqlite/file/waker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/sqlite/file/operation.h"

#define OP "sqlite_waker"

/* The caller frees it; NULL when out of memory. */
static char *wake_file(const char *path) {
    char *file = NULL;
    return asprintf(&file, "%s-pawl/wake", path) < 0 ? NULL : file;
}

void waker_touch(const char *path) {
    char *file = wake_file(path);
    /* A missing file means that no worker has ever waited; a worker that misses this polls. */
    if (file != NULL)
        (void)utimensat(AT_FDCWD, file, NULL, 0);
    free(file);
}

void waker_write(const char *path) {
    char *file = wake_file(path);
    int fd = file != NULL ? open(file, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && pwrite(fd, "", 1, 0) != 1)
        (void)futimens(fd, NULL); /* a full disk: woken all the same */
    if (fd >= 0)
        close(fd);
    free(file);
}

static pawl_status drain(struct store_waker *waker, bool *woken, pawl_error *err) {
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    *woken = waker->news = false;
    for (ssize_t got; (got = read(waker->fd, events, sizeof(events))) > 0;) {
        const struct inotify_event *event = NULL;
        for (char *at = events; at < events + got; at += sizeof(*event) + event->len) {
            event = (const struct inotify_event *)(void *)at;
            *woken = *woken || (event->mask & (IN_ATTRIB | IN_MODIFY)) != 0;
            waker->news = waker->news || (event->mask & IN_MODIFY) != 0;
            if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) != 0)
                return error_set(err, PAWL_UNAVAILABLE, OP, "the wake file was removed");
        }
    }
    return PAWL_OK;
}

static void waker_close(struct store_waker *waker) {
    close(waker->fd);
    free(waker);
}

pawl_status sqlite_waker_open(const struct store_config *config, struct store_waker **out, pawl_error *err) {
    char *file = wake_file(store_sqlite_path(config->url));
    struct store_waker *waker = calloc(1, sizeof(*waker));
    pawl_status status = PAWL_OK;
    int made = -1;
    if (file == NULL || waker == NULL) {
        status = error_set(err, PAWL_NO_MEMORY, OP, "out of memory");
        goto done;
    }
    *waker = (struct store_waker){.fd = -1, .drain = drain, .close = waker_close};
    made = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    waker->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (made < 0 || waker->fd < 0 ||
        inotify_add_watch(waker->fd, file, IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF) < 0)
        status = error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be watched", file);
done:
    if (made >= 0)
        close(made);
    free(file);
    if (status == PAWL_OK) {
        *out = waker;
    } else if (waker != NULL) {
        if (waker->fd >= 0)
            close(waker->fd);
        free(waker);
    }
    return status;
}

pawl_status sqlite_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                              pawl_error *err) {
    struct operation op = operation_write(store, "wait_begin", PAWL_OK, err);
    pawl_status status = operation_end(
        &op, statement_run(SQL(&op, SQLITE_Q_WAITER_BEGIN, instance, kinds, op.now_ms + PAWL_WAIT_MS)));
    if (status == PAWL_OK)
        *late = false; /* one writer at a time: no other put was running */
    return status;
}

pawl_status sqlite_wait_end(struct store *store, pawl_uuid instance, pawl_error *err) {
    struct operation op = operation_write(store, "wait_end", PAWL_OK, err);
    return operation_end(&op, statement_run(SQL(&op, SQLITE_Q_WAITER_END, instance, op.now_ms)));
}

pawl_status sqlite_wake(struct store *store, pawl_error *err) {
    (void)err;
    waker_touch(sqlite_store_of(store)->path);
    return PAWL_OK;
}
