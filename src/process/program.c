/* Finding and checking programs, and splitting command lines into words. */
#include "process/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

static pawl_status check(const char *path, pawl_error *err) {
    struct stat info;
    if (stat(path, &info) != 0)
        return error_errno(err, errno == ENOENT ? PAWL_NOT_FOUND : PAWL_INVALID, "handler", errno,
                           "the program %s cannot be used", path);
    if (S_ISDIR(info.st_mode))
        return error_set(err, PAWL_INVALID, "handler", "the program %s is a directory", path);
    if (access(path, X_OK) != 0)
        return error_set(err, PAWL_INVALID, "handler", "the program %s is not executable; chmod +x %s", path,
                         path);
    return PAWL_OK;
}

pawl_status program_find(struct arena *arena, const char *name, char **path, pawl_error *err) {
    if (strchr(name, '/') != NULL) {
        pawl_status status = check(name, err);
        if (status == PAWL_OK) {
            /* Relative names are relative to the directory at startup. */
            char *cwd = name[0] != '/' ? getcwd(NULL, 0) : NULL;
            *path = cwd != NULL ? arena_printf(arena, "%s/%s", cwd, name) : arena_strdup(arena, name);
            free(cwd);
            if (*path == NULL)
                return error_no_memory(err, "handler");
        }
        return status;
    }
    const char *dirs = getenv("PATH");
    for (const char *at = dirs != NULL ? dirs : "/usr/bin:/bin"; *at != '\0';) {
        size_t len = strcspn(at, ":");
        char *candidate = arena_printf(arena, "%.*s/%s", len > 0 ? (int)len : 1, len > 0 ? at : ".", name);
        if (candidate == NULL)
            return error_no_memory(err, "handler");
        if (check(candidate, NULL) == PAWL_OK) {
            *path = candidate;
            return PAWL_OK;
        }
        at += len + (at[len] == ':');
    }
    return error_set(err, PAWL_NOT_FOUND, "handler",
                     "the program %s is not in PATH; for a file here write ./%s", name, name);
}

/* One word, unquoted, appended at `to`; returns the end of what was read, or NULL: a quote does not end. */
static const char *split_word(const char *at, const char *end, char **to) {
    while (at < end && *at != ' ' && *at != '\t') {
        if (*at == '\\' && at + 1 < end) {
            *(*to)++ = at[1];
            at += 2;
        } else if (*at == '\'' || *at == '"') {
            char quote = *at++;
            while (at < end && *at != quote) {
                if (quote == '"' && *at == '\\' && at + 1 < end)
                    at++;
                *(*to)++ = *at++;
            }
            if (at == end)
                return NULL;
            at++;
        } else {
            *(*to)++ = *at++;
        }
    }
    *(*to)++ = '\0';
    return at;
}

pawl_status command_split(struct arena *arena, pawl_str command, char ***argv, pawl_error *err) {
    command = str_trim(command);
    if (command.len == 0)
        return error_set(err, PAWL_INVALID, "handler", "the command is empty; write exec:./handle.sh");
    char *text = arena_alloc(arena, command.len + 2);
    char **words = arena_array(arena, command.len / 2 + 3, sizeof(char *));
    if (text == NULL || words == NULL)
        return error_no_memory(err, "handler");
    const char *at = command.ptr, *end = command.ptr + command.len;
    size_t count = 0;
    while (at < end) {
        words[count++] = text;
        at = split_word(at, end, &text);
        if (at == NULL)
            return error_set(err, PAWL_INVALID, "handler", "a quote in the command '%.*s' does not end",
                             STR_ARG(command));
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
    }
    *argv = words;
    return PAWL_OK;
}
