/* Reading options from an INI file. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/options/options_parts.h"
#include "base/str.h"

struct options_reader {
    struct arena *arena;
    const char *path;
    struct options *options;
    bool seen[OPTION_COUNT];
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

static pawl_status refuse_name(struct options_reader *reader, const char *name) {
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

/* The texts live as long as the options. */
static pawl_status take(struct options_reader *reader, const char *section, const char *name,
                        const char *text) {
    if (section[0] != '\0' && strcmp(section, "pawl") != 0)
        return error_set(reader->err, PAWL_INVALID, "options",
                         "%s: unknown section [%s]; options belong in [pawl]", reader->path, section);
    enum option_id id = find_row(name);
    if (id == OPTION_COUNT)
        return refuse_name(reader, name);
    if (reader->seen[id])
        return error_set(reader->err, PAWL_INVALID, "options", "%s: '%s' is set twice; keep one",
                         reader->path, name);
    reader->seen[id] = true;

    const char *label = arena_printf(reader->arena, "%s in %s", name, reader->path);
    if (label == NULL)
        return error_set(reader->err, PAWL_NO_MEMORY, "options", "no memory for %s", reader->path);
    struct option_place place = {OPTION_FROM_FILE, label, false};
    struct option_value value;
    pawl_status status = option_value_parse(&option_rows[id], str_from(text), &place, &value, reader->err);
    /* A wrong line is refused even if a flag overrides it: it would take effect the next time. */
    if (status == PAWL_OK && reader->options->values[id].source < OPTION_FROM_FILE)
        reader->options->values[id] = value;
    return status;
}

/* One line: [section], or name = value. */
static pawl_status take_line(struct options_reader *reader, pawl_str line, int number, pawl_str *section) {
    pawl_str value, name = str_trim(str_before(line, '=', &value));
    if (line.ptr[0] == '[' && line.ptr[line.len - 1] == ']') {
        *section = str_trim((pawl_str){line.ptr + 1, line.len - 2});
        return PAWL_OK;
    }
    if (line.ptr[0] == '[' || str_absent(value))
        return error_set(reader->err, PAWL_INVALID, "options", "%s: line %d is not 'name = value'",
                         reader->path, number);
    value = str_trim(value);
    const char *texts[] = {arena_copy(reader->arena, section->ptr, section->len),
                           arena_copy(reader->arena, name.ptr, name.len),
                           arena_copy(reader->arena, value.ptr, value.len)};
    if (texts[0] == NULL || texts[1] == NULL || texts[2] == NULL)
        return error_no_memory(reader->err, "options");
    return take(reader, texts[0], texts[1], texts[2]);
}

pawl_status options_file_read(struct arena *arena, const char *path, struct options *options,
                              pawl_error *err) {
    pawl_str text = {NULL, 0}, line, section = STR("");
    pawl_status status = file_read(arena, path, PAWL_CONFIG_FILE_BYTES_MAX, &text, err);
    if (status == PAWL_OK && text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL)
        status = error_set(err, PAWL_INVALID, "options", "%s is not a text file", path);
    struct options_reader reader = {.arena = arena, .path = path, .options = options, .err = err};
    int number = 0;
    while (status == PAWL_OK && file_line(&text, &number, &line))
        status = take_line(&reader, line, number, &section);
    return status;
}
