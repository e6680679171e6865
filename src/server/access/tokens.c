/* Reading and creating the file with the server's tokens. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "server/access/auth.h"

enum { TOKEN_FILE_BYTES_MAX = 4096, TOKEN_CHARACTERS_MIN = 32 };

pawl_status token_make(char text[static TOKEN_TEXT_BYTES], pawl_error *err) {
    uint8_t bytes[TOKEN_BYTES];
    TRY(random_bytes(bytes, sizeof bytes, err));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return PAWL_OK;
}

static pawl_status file_write(int fd, const struct tokens *tokens, const char *path, pawl_error *err) {
    char text[TOKEN_FILE_BYTES_MAX];
    int len =
        snprintf(text, sizeof text,
                 "# Tokens of pawl server. Anyone who has one can do what its name says; keep this file "
                 "private.\n"
                 "# To revoke a token and every session made with it, replace it and restart the server.\n"
                 "operator = %s\nviewer = %s\nworker = %s\n",
                 tokens->operator, tokens->viewer, tokens->worker);
    if (write(fd, text, (size_t)len) == len && fsync(fd) == 0)
        return PAWL_OK;
    return error_errno(err, PAWL_UNAVAILABLE, "tokens", errno, "cannot write %s", path);
}

/* Creates the directories above the file, private. */
static pawl_status parents_make(const char *path, pawl_error *err) {
    char part[4096];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        size_t len = (size_t)(slash - path);
        if (len >= sizeof part)
            return error_set(err, PAWL_INVALID, "tokens", "the path of the token file is too long");
        memcpy(part, path, len);
        part[len] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return error_errno(err, PAWL_UNAVAILABLE, "tokens", errno, "cannot make the directory %s", part);
    }
    return PAWL_OK;
}

static pawl_status file_make(const char *path, struct tokens *tokens, pawl_error *err) {
    struct tokens fresh;
    pawl_status status = parents_make(path, err);
    if (status == PAWL_OK)
        status = token_make(fresh.operator, err);
    if (status == PAWL_OK)
        status = token_make(fresh.viewer, err);
    if (status == PAWL_OK)
        status = token_make(fresh.worker, err);
    if (status != PAWL_OK)
        return status;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno == EEXIST ? PAWL_BUSY : PAWL_UNAVAILABLE, "tokens", errno,
                           "cannot make the token file %s", path);
    status = file_write(fd, &fresh, path, err);
    close(fd);
    if (status == PAWL_OK)
        *tokens = fresh;
    else
        unlink(path);
    return status;
}

static pawl_status line_read(char *line, const char *path, struct tokens *tokens, pawl_error *err) {
    pawl_str text = str_trim(str_from(line));
    if (text.len == 0 || text.ptr[0] == '#')
        return PAWL_OK;
    const char *equals = memchr(text.ptr, '=', text.len);
    pawl_str name = text, value = {NULL, 0};
    if (equals != NULL) {
        name = str_trim((pawl_str){text.ptr, (size_t)(equals - text.ptr)});
        value = str_trim((pawl_str){equals + 1, (size_t)(text.ptr + text.len - equals - 1)});
    }
    char *into = str_equal_cstr(name, "operator") ? tokens->operator: str_equal_cstr(name, "viewer")
                                                        ? tokens->viewer
                                                    : str_equal_cstr(name, "worker") ? tokens->worker
                                                                                     : NULL;
    if (into == NULL)
        return error_set(err, PAWL_INVALID, "tokens",
                         "%s has a line that is not operator, viewer or worker = TOKEN", path);
    if (value.len < TOKEN_CHARACTERS_MIN || value.len >= TOKEN_TEXT_BYTES)
        return error_set(err, PAWL_INVALID, "tokens", "%s: the token of %.*s must have %d to %d characters",
                         path, STR_ARG(name), TOKEN_CHARACTERS_MIN, TOKEN_TEXT_BYTES - 1);
    memcpy(into, value.ptr, value.len);
    into[value.len] = '\0';
    return PAWL_OK;
}

static pawl_status file_read(int fd, const char *path, struct tokens *tokens, pawl_error *err) {
    struct stat info;
    char text[TOKEN_FILE_BYTES_MAX + 1];
    if (fstat(fd, &info) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "tokens", errno, "cannot look at %s", path);
    if ((info.st_mode & 077) != 0 || (info.st_uid != geteuid() && info.st_uid != 0))
        return error_set(err, PAWL_CONFLICT, "tokens",
                         "others may read the token file %s: chmod 600 it, and replace its tokens when they "
                         "may have been seen",
                         path);
    ssize_t len = read(fd, text, sizeof text - 1);
    if (len < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "tokens", errno, "cannot read %s", path);
    text[len] = '\0';
    struct tokens read_tokens = {.viewer = ""};
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
        TRY(line_read(line, path, &read_tokens, err));
    if (read_tokens.operator[0] == '\0')
        return error_set(err, PAWL_INVALID, "tokens", "%s has no operator token; remove it to get a new one",
                         path);
    *tokens = read_tokens;
    return PAWL_OK;
}

pawl_status tokens_load(const char *path, struct tokens *tokens, bool *made, pawl_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *made = fd < 0 && errno == ENOENT;
    if (*made)
        return file_make(path, tokens, err);
    if (fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "tokens", errno, "cannot open the token file %s", path);
    pawl_status status = file_read(fd, path, tokens, err);
    close(fd);
    return status;
}

pawl_status tokens_default_path(struct arena *arena, const char **path, pawl_error *err) {
    const char *state = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *made = NULL;
    if (state != NULL && state[0] == '/')
        made = arena_printf(arena, "%s/http-tokens", state);
    else if (xdg != NULL && xdg[0] == '/')
        made = arena_printf(arena, "%s/pawl/http-tokens", xdg);
    else if (home != NULL && home[0] == '/')
        made = arena_printf(arena, "%s/.local/state/pawl/http-tokens", home);
    if (made == NULL)
        return error_set(err, PAWL_INVALID, "tokens",
                         "there is no home directory for the tokens: name a file with --token-file");
    *path = made;
    return PAWL_OK;
}
