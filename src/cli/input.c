/* Text from files and standard input. */
#include "cli/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

pawl_status input_open(const char *path, FILE **file, pawl_error *err) {
    if (strcmp(path, "-") == 0) {
        *file = stdin;
        return PAWL_OK;
    }
    FILE *opened = fopen(path, "re");
    if (opened == NULL)
        return error_errno(err, errno == ENOENT ? PAWL_NOT_FOUND : PAWL_INVALID, "input", errno,
                           "cannot read %s", path);
    struct stat info;
    if (fstat(fileno(opened), &info) == 0 && S_ISDIR(info.st_mode)) {
        input_close(opened);
        return error_set(err, PAWL_INVALID, "input", "%s is a directory: name a file", path);
    }
    *file = opened;
    return PAWL_OK;
}

void input_close(FILE *file) {
    if (file != NULL && file != stdin)
        (void)fclose(file); /* only read from: nothing can be lost */
}

pawl_status input_read(struct arena *arena, const char *path, size_t bytes_max, pawl_str *text,
                       pawl_error *err) {
    FILE *file = NULL;
    pawl_status status = input_open(path, &file, err);
    if (status != PAWL_OK)
        return status;
    AUTO_BUF(buf, bytes_max + 1);
    char chunk[16384];
    size_t len = 0;
    while (buf.len <= bytes_max && (len = fread(chunk, 1, sizeof chunk, file)) > 0) {
        size_t room = bytes_max + 1 - buf.len;
        buf_append(&buf, chunk, len < room ? len : room);
    }
    if (ferror(file))
        status = error_errno(err, PAWL_UNAVAILABLE, "input", errno, "cannot read %s", path);
    else if (buf.len > bytes_max)
        status = error_set(err, PAWL_INVALID, "input",
                           "%s has more than the %zu bytes that --payload-limit allows",
                           strcmp(path, "-") == 0 ? "standard input" : path, bytes_max);
    else
        status = buf_status(&buf, "input", err);
    if (status == PAWL_OK) {
        pawl_str copy = {arena_copy(arena, buf.ptr != NULL ? buf.ptr : "", buf.len), buf.len};
        if (copy.ptr == NULL)
            status = error_set(err, PAWL_NO_MEMORY, "input", "no memory for %s", path);
        else
            *text = copy;
    }
    input_close(file);
    return status;
}

pawl_status input_line(FILE *file, struct buf *line, bool *more, pawl_error *err) {
    buf_reset(line);
    int c = 0;
    while (!line->failed && (c = getc_unlocked(file)) != EOF && c != '\n')
        buf_append_char(line, (char)c);
    if (ferror(file))
        return error_errno(err, PAWL_UNAVAILABLE, "input", errno, "cannot read on");
    if (line->failed)
        return error_set(err, PAWL_INVALID, "input", "it is longer than the %zu bytes that a line may have",
                         line->bytes_max);
    *more = c != EOF || line->len > 0;
    return PAWL_OK;
}
