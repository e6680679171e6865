/* A whole small file as text. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"

#define OP "file"

static pawl_status read_all(FILE *file, struct arena *arena, const char *path, size_t bytes_max,
                            pawl_str *text, pawl_error *err) {
    struct stat info;
    if (fstat(fileno(file), &info) != 0)
        return error_errno(err, PAWL_INVALID, OP, errno, "%s cannot be read", path);
    if (S_ISDIR(info.st_mode))
        return error_set(err, PAWL_INVALID, OP, "%s is a directory: name a file", path);
    /* As many bytes as it reports, plus one to see that there are no more; a pipe reports none. */
    bool sized = S_ISREG(info.st_mode) && info.st_size > 0 && (size_t)info.st_size < bytes_max;
    size_t room = (sized ? (size_t)info.st_size : bytes_max) + 1;
    char *bytes = arena_alloc(arena, room);
    if (bytes == NULL)
        return error_set(err, PAWL_NO_MEMORY, OP, "no memory for %s", path);
    size_t len = fread(bytes, 1, room, file);
    if (ferror(file) != 0)
        return error_errno(err, PAWL_INVALID, OP, errno, "%s cannot be read", path);
    if (len == room)
        return error_set(err, PAWL_INVALID, OP, "%s has more than %zu bytes", path, room - 1);
    bytes[len] = '\0';
    *text = (pawl_str){bytes, len};
    return PAWL_OK;
}

pawl_status file_read(struct arena *arena, const char *path, size_t bytes_max, pawl_str *text,
                      pawl_error *err) {
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_errno(err, errno == ENOENT ? PAWL_NOT_FOUND : PAWL_INVALID, OP, errno,
                           "%s cannot be read", path);
    pawl_status status = read_all(file, arena, path, bytes_max, text, err);
    (void)fclose(file); /* read only: nothing can be lost */
    return status;
}

/* The length of the line without a comment at its end: # or ; after a blank, outside of quotes that are
 * closed. */
static size_t before_comment(pawl_str line) {
    char quote = '\0';
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (quote != '\0' && c == '\\')
            i++;
        else if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if ((c == '\'' || c == '"') && memchr(line.ptr + i + 1, c, line.len - i - 1) != NULL)
            quote = c;
        else if ((c == '#' || c == ';') && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t'))
            return i;
    }
    return line.len;
}

bool file_line(pawl_str *rest, int *number, pawl_str *line) {
    while (str_next(rest, '\n', line)) {
        *line = str_trim(*line);
        *line = str_trim((pawl_str){line->ptr, before_comment(*line)});
        ++*number;
        if (line->len > 0)
            return true;
    }
    return false;
}
