/* Options from an INI file. */
#include <ini.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/options_parts.h"
#include "base/str.h"

/* libinih reads lines into a fixed buffer of 200 bytes and silently splits what is longer. */
#define LINE_BYTES_MAX 198

struct reader {
    struct arena *arena;
    const char *path;
    struct options *options;
    bool seen[OPTION_COUNT];
    pawl_status status;
    pawl_error *err;
};

/* Written as the flag is, or with _ for -. */
static bool is_name(const char *row, const char *written) {
    while (*row != '\0' && *row == (*written == '-' ? '_' : *written)) {
        row++;
        written++;
    }
    return *row == '\0' && *written == '\0';
}

static enum option_id find_row(const char *name) {
    for (int id = 0; id < OPTION_COUNT; id++)
        if (!option_rows[id].flag_only && is_name(option_rows[id].name, name))
            return (enum option_id)id;
    return OPTION_COUNT;
}

static pawl_status refuse_name(struct reader *reader, const char *name) {
    const char *names[OPTION_COUNT];
    size_t count = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (!option_rows[id].flag_only)
            names[count++] = option_rows[id].name;
    const char *close = options_suggest(name, names, count);
    return error_set(reader->err, PAWL_INVALID, "options", "%s: unknown option '%s'%s%s%s", reader->path,
                     name, close != NULL ? "; did you mean '" : "", close != NULL ? close : "",
                     close != NULL ? "'?" : "");
}

static pawl_status take(struct reader *reader, const char *section, const char *name, const char *text) {
    if (section[0] != '\0' && strcmp(section, "pawl") != 0)
        return error_set(reader->err, PAWL_INVALID, "options",
                         "%s: unknown section [%s]; options stand below [pawl]", reader->path, section);
    enum option_id id = find_row(name);
    if (id == OPTION_COUNT)
        return refuse_name(reader, name);
    if (reader->seen[id])
        return error_set(reader->err, PAWL_INVALID, "options", "%s: '%s' is set twice; keep one",
                         reader->path, name);
    reader->seen[id] = true;

    const char *label = arena_printf(reader->arena, "%s in %s", name, reader->path);
    const char *copy = arena_strdup(reader->arena, text);
    if (label == NULL || copy == NULL)
        return error_set(reader->err, PAWL_NO_MEMORY, "options", "no memory for %s", reader->path);
    struct option_place place = {OPTION_FROM_FILE, label, false};
    struct option_value value;
    pawl_status status = option_value_parse(&option_rows[id], str_from(copy), &place, &value, reader->err);
    /* A wrong line is refused even when a flag overrules it: it would be in force the next time. */
    if (status == PAWL_OK && reader->options->values[id].source < OPTION_FROM_FILE)
        reader->options->values[id] = value;
    return status;
}

/* libinih calls this for each line; it has no way to stop, so the first failure is kept. */
static int handle_line(void *user, const char *section, const char *name, const char *text) {
    struct reader *reader = user;
    if (reader->status == PAWL_OK)
        reader->status = take(reader, section, name, text);
    return reader->status == PAWL_OK;
}

static pawl_status check_lines(const char *path, pawl_str text, pawl_error *err) {
    size_t line = 1;
    size_t len = 0;
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL)
        return error_set(err, PAWL_INVALID, "options", "%s is not a text file", path);
    for (size_t i = 0; i < text.len; i++) {
        len = text.ptr[i] == '\n' ? 0 : len + 1;
        if (len > LINE_BYTES_MAX)
            return error_set(err, PAWL_INVALID, "options",
                             "%s: line %zu is longer than %d bytes; give a long value in the environment",
                             path, line, LINE_BYTES_MAX);
        line += text.ptr[i] == '\n';
    }
    return PAWL_OK;
}

pawl_status options_file_read(struct arena *arena, const char *path, struct options *options,
                              pawl_error *err) {
    pawl_str text = {NULL, 0};
    pawl_status status = file_read(arena, path, PAWL_CONFIG_FILE_BYTES_MAX, &text, err);
    if (status != PAWL_OK)
        return status;
    status = check_lines(path, text, err);
    if (status != PAWL_OK)
        return status;
    struct reader reader = {.arena = arena, .path = path, .options = options, .err = err};
    int line = ini_parse_string(text.ptr, handle_line, &reader);
    if (reader.status != PAWL_OK)
        return reader.status;
    if (line != 0)
        return error_set(err, PAWL_INVALID, "options", "%s: line %d is not 'name = value'", path, line);
    return PAWL_OK;
}
