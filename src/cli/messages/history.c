/* pawl message archive: completed messages, moved to a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "operations/messages.h"
#include "view/message.h"

/* Rows are removed only after their lines are on disk, so at most this many are written twice after a crash.
 */
enum { ARCHIVE_ROWS = 500, ARCHIVE_BYTES = 16777216 };

struct archive {
    struct cli *cli;
    int fd;
    const char *path;
    off_t size; /* up to which the file is whole */
    struct buf lines;
    struct dead_ref refs[ARCHIVE_ROWS];
    size_t count;
    int64_t archived, removed;
};

/* A new file is only there for good when its directory says so. */
static pawl_status sync_directory(const char *path, pawl_error *err) {
    char *copy = strdup(path);
    if (copy == NULL)
        return error_set(err, PAWL_NO_MEMORY, "history", "no memory for the path");
    int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    pawl_status status = PAWL_OK;
    if (dir < 0 || fsync(dir) != 0)
        status =
            error_errno(err, PAWL_UNAVAILABLE, "history", errno, "cannot sync the directory of %s", path);
    if (dir >= 0)
        (void)close(dir); /* nothing was written through it */
    return status;
}

/* The file must be a regular one of whole lines, and not in use by another process. */
static pawl_status archive_open(struct archive *archive, pawl_error *err) {
    struct stat info;
    char last = '\n';
    archive->fd = open(archive->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
    if (archive->fd < 0)
        return error_errno(err, PAWL_INVALID, "history", errno, "cannot write to %s", archive->path);
    if (fstat(archive->fd, &info) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "history", errno, "cannot look at %s", archive->path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, PAWL_INVALID, "history",
                         "%s is not a regular file, so it cannot be made durable", archive->path);
    if (flock(archive->fd, LOCK_EX | LOCK_NB) != 0)
        return error_set(err, PAWL_BUSY, "history", "another pawl is writing to %s", archive->path);
    if (info.st_size > 0 && pread(archive->fd, &last, 1, info.st_size - 1) != 1)
        return error_errno(err, PAWL_UNAVAILABLE, "history", errno, "cannot read %s", archive->path);
    if (last != '\n') {
        archive->cli->hint =
            "Its messages are still in the database: remove that line, or name another file.";
        return error_set(err, PAWL_CONFLICT, "history", "%s ends in half a line, as after a crash",
                         archive->path);
    }
    archive->size = info.st_size;
    return sync_directory(archive->path, err);
}

static pawl_status write_lines(struct archive *archive, pawl_error *err) {
    pawl_status status = buf_status(&archive->lines, "history", err);
    size_t at = 0;
    while (status == PAWL_OK && at < archive->lines.len) {
        ssize_t len = write(archive->fd, archive->lines.ptr + at, archive->lines.len - at);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            status =
                error_errno(err, PAWL_UNAVAILABLE, "history", errno, "cannot write to %s", archive->path);
        else
            at += (size_t)len;
    }
    if (status == PAWL_OK && fsync(archive->fd) != 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "history", errno, "cannot sync %s", archive->path);
    if (status == PAWL_OK)
        archive->size += (off_t)archive->lines.len;
    else if (ftruncate(archive->fd, archive->size) != 0)
        archive->cli->hint = "The file may end in half a line; nothing of it was removed from the database.";
    return status;
}

/* Lines to disk, then rows out of the database: in this order nothing is ever lost. */
static pawl_status archive_flush(struct archive *archive, pawl_error *err) {
    struct store *store = archive->cli->store;
    int64_t removed = 0;
    if (archive->count == 0)
        return PAWL_OK;
    TRY(write_lines(archive, err));
    archive->archived += (int64_t)archive->count;
    TRY(store->ops->core.history_remove(store, archive->refs, archive->count, &removed, err));
    archive->removed += removed;
    archive->count = 0;
    buf_reset(&archive->lines);
    return PAWL_OK;
}

static pawl_status archive_row(void *self, const struct message_row *row, pawl_error *err) {
    struct archive *archive = self;
    struct cell cells[MESSAGE_COLUMNS];
    message_cells(row, cells);
    output_cells_json(&archive->lines, message_columns, MESSAGE_COLUMNS, cells);
    buf_append_char(&archive->lines, '\n');
    archive->refs[archive->count++] = (struct dead_ref){.kind = row->item.kind, .seq = row->item.seq};
    if (archive->count == ARCHIVE_ROWS || archive->lines.len >= ARCHIVE_BYTES)
        return archive_flush(archive, err);
    return PAWL_OK;
}

static pawl_status run_archive(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(TEXT, "file")},
                                            {COLUMN(TIME, "before")},
                                            {COLUMN(INT, "archived")},
                                            {COLUMN(INT, "removed")}};
    struct request request = front_request(cli);
    struct archive *archive = arena_alloc(cli->arena, sizeof *archive);
    if (archive == NULL)
        return error_set(err, PAWL_NO_MEMORY, "history", "no memory for the archive");
    archive->cli = cli;
    archive->path = cli_value(cli, "to").text.ptr;
    buf_init(&archive->lines, 0);
    struct message_filter filter = message_filter_from(&request);
    filter.state = STATE_DONE;
    pawl_status status = archive_open(archive, err);
    if (status == PAWL_OK)
        status = messages_visit(cli->store, filter, 0, archive_row, archive, err);
    if (status == PAWL_OK)
        status = archive_flush(archive, err);
    if (archive->fd >= 0)
        (void)close(archive->fd); /* every line was synced before */
    buf_free(&archive->lines);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_cstr(archive->path), cell_time(filter.before_ms), cell_int(archive->archived),
                           cell_int(archive->removed)};
    return output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
}

static const struct field fields[] = {
    {TIME_FIELD(IN_TERMINAL, "before_ms", "Only what ended before this time, such as 30d (ago)."),
     .required = true},
    {TEXT_FIELD(IN_TERMINAL, "to", 0, "The file to append JSON lines to; created if missing."),
     .required = true, .file = true},
    FIELD_ROW_KIND(IN_TERMINAL),
    {TEXT_FIELD(IN_TERMINAL, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},
    {TEXT_FIELD(IN_TERMINAL, "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},
    {TEXT_FIELD(IN_TERMINAL, "topic", PAWL_TOPIC_BYTES_MAX, "Only with this topic.")}};

static const struct operation commands[] = {
    {OPERATION("message.archive", "Move old completed messages to a file of JSON lines"), FIELDS(fields),
     .changes = CHANGES_ACTION, .terminal = run_archive,
     .details = "The lines are appended and synced to disk first, then their rows are removed, in steps of "
                "500. After a crash in between, some lines may be there twice; none is lost. Each line is "
                "what pawl message show prints.",
     .example = "pawl message archive --before 30d --to done-2026.ndjson"},
};

const struct operation_table archive_commands = OPERATION_TABLE(commands);
