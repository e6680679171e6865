/* A file of JSON lines: every message is appended and flushed; a reader keeps its position in a second file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/transport.h"

enum {
    PATH_BYTES = 4096,
    LOOK_MS = 50,
    LINE_BYTES_MAX = 2 * PAWL_PAYLOAD_BYTES_MAX,
    READ_BYTES = 1 << 20,
    SCAN_BYTES = 1 << 16
};

struct transport {
    TRANSPORT_SESSION
    char path[PATH_BYTES]; /* the file, or a directory (it ends with /) that has a file per destination */
    struct buf out;
    /* reading */
    char read_path[PATH_BYTES], place_path[PATH_BYTES];
    int64_t place, ends[TRANSPORT_RECEIVE_MAX]; /* ends: after the lines of the last receive */
    size_t end_count;
};

static void file_close(struct transport *session) { buf_free(&session->out); }

static pawl_status file_open(struct transport *session, const struct transport_config *config,
                             pawl_error *err) {
    const char *path = config->url;
    if (strncmp(path, "file:", 5) != 0)
        return error_set(err, PAWL_INVALID, "file", "the address is not of the form file:PATH");
    path += strncmp(path, "file://", 7) == 0 ? 7 : 5;
    if (path[0] == '\0' || strlen(path) >= PATH_BYTES - PAWL_TOPIC_BYTES_MAX - 16)
        return error_set(err, PAWL_INVALID, "file", "the address names no file, or its path is too long");
    buf_init(&session->out, 0);
    snprintf(session->path, sizeof(session->path), "%s", path);
    return PAWL_OK;
}

/* A destination is a file name only when it cannot leave the directory. */
static bool path_of(const struct transport *session, pawl_str destination, char path[static PATH_BYTES]) {
    size_t len = strlen(session->path);
    if (session->path[len - 1] != '/') {
        memcpy(path, session->path, len + 1);
        return true;
    }
    if (destination.len == 0 || destination.len > PAWL_TOPIC_BYTES_MAX || destination.ptr[0] == '.' ||
        memchr(destination.ptr, '/', destination.len) != NULL ||
        memchr(destination.ptr, '\0', destination.len) != NULL)
        return false;
    int made = snprintf(path, PATH_BYTES, "%s%.*s.jsonl", session->path, STR_ARG(destination));
    return made > 0 && made < PATH_BYTES;
}

/* Terminates a line that a crash cut short, so that it cannot swallow the next one. */
static int close_torn_line(int fd) {
    struct stat info;
    char last = '\n';
    if (fstat(fd, &info) != 0)
        return errno;
    if (info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) != 1)
        return errno;
    if (last != '\n' && write(fd, "\n", 1) != 1)
        return errno;
    return 0;
}

static int write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t wrote = write(fd, bytes, len);
        if (wrote < 0 && errno != EINTR)
            return errno;
        if (wrote > 0) {
            bytes += wrote;
            len -= (size_t)wrote;
        }
    }
    return 0;
}

/* A new name survives a crash only if its directory was flushed. */
static int sync_directory_of(const char *path) {
    char directory[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(directory, sizeof(directory), ".");
    else
        snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return code;
}

/* All lines or none: whatever a failed write left is truncated. */
static int append(const char *path, const char *bytes, size_t len) {
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0)
        return errno;
    int code = flock(fd, LOCK_EX) == 0 ? 0 : errno;
    if (code == 0)
        code = close_torn_line(fd);
    struct stat before = {0};
    if (code == 0)
        code = fstat(fd, &before) == 0 ? 0 : errno;
    if (code == 0) {
        code = write_all(fd, bytes, len);
        if (code == 0 && fsync(fd) != 0)
            code = errno;
        if (code == 0 && before.st_size == 0)
            code = sync_directory_of(path);
        if (code != 0 && ftruncate(fd, before.st_size) != 0)
            code = errno;
    }
    close(fd);
    return code;
}

static enum transport_fate fate_of(int code) {
    return code == EISDIR || code == ENAMETOOLONG || code == ENOTDIR ? FATE_REJECTED : FATE_UNAVAILABLE;
}

/* Consecutive messages for the same file are written together. */
static pawl_status file_publish(struct transport *session, const struct transport_message *messages,
                                size_t count, struct transport_result *results, pawl_error *err) {
    bool failed = false;
    for (size_t begin = 0; begin < count;) {
        char path[PATH_BYTES], next[PATH_BYTES];
        size_t end = begin + 1;
        if (!path_of(session, messages[begin].destination, path)) {
            transport_result_set(&results[begin], FATE_REJECTED, "the destination is not a file name");
            begin = end;
            continue;
        }
        while (end < count && path_of(session, messages[end].destination, next) && strcmp(path, next) == 0)
            end++;
        buf_reset(&session->out);
        for (size_t i = begin; i < end; i++) {
            event_json(&session->out, &messages[i].event);
            buf_append_char(&session->out, '\n');
        }
        pawl_status status = buf_status(&session->out, "file", err);
        if (status != PAWL_OK)
            return status;
        int code = failed ? ECANCELED : append(path, session->out.ptr, session->out.len);
        failed = failed || code != 0;
        char reason[96];
        for (size_t i = begin; i < end && code == 0; i++)
            transport_result_confirm(&results[i]);
        for (size_t i = begin; i < end && code != 0; i++)
            transport_result_set(&results[i], fate_of(code), "%s", strerror_r(code, reason, sizeof(reason)));
        begin = end;
    }
    return PAWL_OK;
}

static pawl_status file_subscribe(struct transport *session, pawl_error *err) {
    if (!path_of(session, session->from, session->read_path) ||
        memchr(session->group.ptr, '/', session->group.len) != NULL)
        return error_set(err, PAWL_INVALID, "file", "from and group must be plain names");
    if ((size_t)snprintf(session->place_path, PATH_BYTES, "%s.%.*s.place", session->read_path,
                         STR_ARG(session->group)) >= PATH_BYTES)
        return error_set(err, PAWL_INVALID, "file", "the path is too long");
    FILE *file = fopen(session->place_path, "re");
    long long place = 0;
    if (file != NULL) {
        if (fscanf(file, "%lld", &place) != 1)
            place = 0;
        fclose(file);
    }
    session->place = place;
    return PAWL_OK;
}

static pawl_status take_lines(struct transport *session, struct arena *arena, pawl_str text, size_t max,
                              struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    int64_t at = session->place;
    while (text.len > 0 && *count < max) {
        const char *end = memchr(text.ptr, '\n', text.len);
        if (end == NULL)
            break;
        pawl_str line = {text.ptr, (size_t)(end - text.ptr)};
        text = (pawl_str){end + 1, text.len - line.len - 1};
        at += (int64_t)line.len + 1;
        if (line.len == 0)
            continue;
        struct transport_delivery *delivery = &deliveries[*count];
        *delivery = (struct transport_delivery){.tag = *count, .from = session->from};
        pawl_status status = transport_delivery_take(delivery, arena, line, NULL, err);
        if (status != PAWL_OK)
            return status;
        session->ends[(*count)++] = at;
    }
    session->end_count = *count;
    return PAWL_OK;
}

/* A line that is too long for any event is skipped and identified by its beginning; that is possible only
 * once its end is written. */
static pawl_status take_long_line(struct transport *session, int fd, struct arena *arena,
                                  struct transport_delivery *delivery, pawl_error *err) {
    char bytes[SCAN_BYTES];
    int64_t at = session->place;
    const char *end = NULL;
    ssize_t got = 1;
    *delivery = (struct transport_delivery){.from = session->from, .malformed = true};
    for (; end == NULL && got > 0; at += end != NULL ? end - bytes + 1 : got) {
        got = pread(fd, bytes, sizeof(bytes), at);
        end = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
        if (at == session->place && got > 0 &&
            str_dup(arena, (pawl_str){bytes, (size_t)got}, &delivery->raw, err) != PAWL_OK)
            return PAWL_NO_MEMORY;
    }
    if (end == NULL)
        return error_set(err, PAWL_UNAVAILABLE, "file",
                         "%s has a line at byte %lld that has no end after %d bytes", session->read_path,
                         (long long)session->place, LINE_BYTES_MAX);
    snprintf(delivery->reason, sizeof(delivery->reason),
             "the line at byte %lld has %lld bytes; at most %d are read, and this is its beginning",
             (long long)session->place, (long long)(at - session->place - 1), LINE_BYTES_MAX);
    session->ends[0] = at;
    session->end_count = 1;
    return PAWL_OK;
}

static pawl_status read_some(struct transport *session, struct arena *arena, size_t max,
                             struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    int fd = open(session->read_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return PAWL_OK;
    if (fd < 0)
        return error_errno(err, PAWL_INVALID, "file", errno, "%s cannot be read", session->read_path);
    pawl_status status = PAWL_OK;
    size_t size = READ_BYTES;
    bool more = true, full = false;
    while (status == PAWL_OK && *count == 0 && more) {
        char *bytes = malloc(size);
        ssize_t got = bytes != NULL ? pread(fd, bytes, size, session->place) : -1;
        full = got == (ssize_t)size;
        more = full && size < LINE_BYTES_MAX; /* a line longer than the buffer: once more */
        if (bytes == NULL || got < 0)
            status = error_set(err, PAWL_UNAVAILABLE, "file", "%s cannot be read", session->read_path);
        else
            status = take_lines(session, arena, (pawl_str){bytes, (size_t)got}, max, deliveries, count, err);
        free(bytes);
        size *= 2;
    }
    if (status == PAWL_OK && *count == 0 && full) {
        status = take_long_line(session, fd, arena, &deliveries[0], err);
        *count = status == PAWL_OK;
    }
    close(fd);
    return status;
}

static pawl_status file_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    *count = 0;
    session->end_count = 0;
    if (max > TRANSPORT_RECEIVE_MAX)
        max = TRANSPORT_RECEIVE_MAX;
    while (true) {
        pawl_status status = read_some(session, arena, max, deliveries, count, err);
        if (status != PAWL_OK || *count > 0 || clock_boot_ms() >= until_ms)
            return status;
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
    }
}

static pawl_status file_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                    enum transport_verdict verdict, pawl_error *err) {
    if (verdict == VERDICT_RETURN || count == 0)
        return PAWL_OK;
    uint64_t last = tags[count - 1];
    if (last >= session->end_count)
        return error_set(err, PAWL_INVALID, "file", "the tag is not of the last receive");
    char fresh[PATH_BYTES + 8];
    snprintf(fresh, sizeof(fresh), "%s.new", session->place_path);
    FILE *file = fopen(fresh, "we");
    bool good = file != NULL && fprintf(file, "%lld\n", (long long)session->ends[last]) > 0 &&
                fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    if (!good || rename(fresh, session->place_path) != 0 ||
        (errno = sync_directory_of(session->place_path)) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "file", errno, "%s cannot be written", session->place_path);
    session->place = session->ends[last];
    return PAWL_OK;
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "file",
    .keeps_order = true,
    .session_bytes = sizeof(struct transport),
    .open = file_open,
    .publish = file_publish,
    .subscribe = file_subscribe,
    .receive = file_receive,
    .acknowledge = file_acknowledge,
    .close = file_close,
};
