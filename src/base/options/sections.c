/* Reading files of sections. */
#include "base/options/sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { SECRET_BYTES_MAX = 65536 };

/* The content of the file without its line ends, in the arena; NULL: it is empty or cannot be read. */
static const char *secret_file_read(struct arena *arena, const char *path) {
    FILE *file = fopen(path, "re");
    char *bytes = file != NULL ? arena_alloc(arena, SECRET_BYTES_MAX + 1) : NULL;
    size_t len = bytes != NULL ? fread(bytes, 1, SECRET_BYTES_MAX, file) : 0;
    if (file != NULL)
        fclose(file);
    if (bytes != NULL)
        bytes[len] = '\0';
    while (len > 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        bytes[--len] = '\0';
    return len > 0 ? bytes : NULL;
}

pawl_status section_fault(const struct section_file *file, pawl_status status, const char *reason,
                          pawl_error *err) {
    return error_set(err, status, file->op, "%s:%d: %s", file->path, file->line, reason);
}

pawl_status section_whole_fault(const struct section_file *file, pawl_status status, const char *reason,
                                pawl_error *err) {
    return error_set(err, status, file->op, "%s:%d: %s", file->path, file->section_line, reason);
}

/* NULL: the variable is missing or empty, or the file cannot be read. */
static const char *secret(struct arena *arena, const char *where, bool variable) {
    const char *found = variable ? secure_getenv(where) : secret_file_read(arena, where);
    return found != NULL && found[0] != '\0' ? arena_strdup(arena, found) : NULL;
}

/* Sets the member; false: the value is not one that the key takes. ending: of a secret's key. */
static bool read_value(struct section_file *file, const struct section_key *key, pawl_str ending,
                       pawl_str value) {
    void *member = (char *)file->into + key->at;
    const char *text = arena_copy(file->arena, value.ptr, value.len);
    int64_t number = 0;
    int choice = 0;
    if (text == NULL)
        return false;
    switch (key->kind) {
    case SECTION_TEXT:
    case SECTION_ANY_TEXT:
    case SECTION_SECRET:
    case SECTION_TEXT_SECRET:
        text = ending.len > 0 ? secret(file->arena, text, str_equal_cstr(ending, "-env")) : text;
        *(const char **)member = text;
        return text != NULL && (value.len > 0 || key->kind != SECTION_TEXT);
    case SECTION_NAME:
        *(pawl_str *)member = (pawl_str){text, value.len};
        return value.len > 0 && value.len <= (size_t)key->max;
    case SECTION_MS:
    case SECTION_DURATION:
        if (!clock_parse_duration(value, &number) || number < 1 || (key->max > 0 && number > key->max))
            return false;
        break;
    case SECTION_NUMBER:
    case SECTION_LARGE_NUMBER:
        if (!str_to_i64(value, 1, key->max, &number))
            return false;
        break;
    case SECTION_SWITCH:
        choice = str_choice(key->choices, value);
        *(bool *)member = choice == 1;
        return choice >= 0;
    case SECTION_CHOICE:
        choice = str_choice(key->choices, value);
        *(int *)member = (int)key->max + choice;
        return choice >= 0;
    case SECTION_OTHER:
        return key->read(file, member, value);
    }
    if (key->kind == SECTION_MS || key->kind == SECTION_NUMBER)
        *(int *)member = (int)number;
    else
        *(int64_t *)member = number;
    return true;
}

/* Whether the name is the key's own; *ending is what a secret's key may end with. */
static bool is_key(const struct section_key *key, pawl_str name, pawl_str *ending) {
    size_t len = strlen(key->key);
    if (!str_starts_with(name, str_from(key->key)))
        return false;
    *ending = str_skip(name, len);
    bool hidden = key->kind == SECTION_SECRET || key->kind == SECTION_TEXT_SECRET;
    if (ending->len == 0)
        return key->kind != SECTION_SECRET;
    return hidden && (str_equal_cstr(*ending, "-env") || str_equal_cstr(*ending, "-file"));
}

static pawl_status key_value(struct section_file *file, pawl_str line, pawl_error *err) {
    pawl_str value, ending, name = str_trim(str_before(line, '=', &value));
    if (str_absent(value))
        return section_fault(file, PAWL_INVALID, "a line is [SECTION], key = value, or starts with #", err);
    if (file->keys == NULL)
        return error_set(err, PAWL_INVALID, file->op, "%s:%d: a section must come first: %s", file->path,
                         file->line, file->sections);
    value = str_trim(value);
    for (size_t i = 0; i < file->key_count; i++) {
        if (!is_key(&file->keys[i], name, &ending))
            continue;
        if ((file->seen & (1u << i)) != 0)
            return section_fault(file, PAWL_INVALID, "the key is given twice in this section", err);
        file->seen |= 1u << i;
        if (read_value(file, &file->keys[i], ending, value))
            return PAWL_OK;
        if (file->keys[i].kind == SECTION_SECRET)
            return error_set(err, PAWL_INVALID, file->op, "%s:%d: the %s of %.*s is empty or cannot be read",
                             file->path, file->line, str_equal_cstr(ending, "-env") ? "variable" : "file",
                             STR_ARG(name));
        return section_fault(file, PAWL_INVALID, file->keys[i].wanted, err);
    }
    return file->stray(file, name, value, err);
}

static pawl_status section_begin(struct section_file *file, pawl_str line, pawl_error *err) {
    pawl_status status = file->keys != NULL ? file->end(file, err) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    file->keys = NULL;
    file->seen = 0;
    file->section_line = file->line;
    if (line.ptr[line.len - 1] != ']')
        return error_set(err, PAWL_INVALID, file->op, "%s:%d: a section ends with ]: %s", file->path,
                         file->line, file->sections);
    return file->begin(file, str_trim((pawl_str){line.ptr + 1, line.len - 2}), err);
}

pawl_status section_file_read(struct section_file *file, pawl_error *err) {
    pawl_str text = {NULL, 0}, line;
    struct arena *arena = arena_create(2 * PAWL_CONFIG_FILE_BYTES_MAX);
    pawl_status status = file_read(arena, file->path, PAWL_CONFIG_FILE_BYTES_MAX, &text, err);
    while (status == PAWL_OK && file_line(&text, &file->line, &line))
        status = line.ptr[0] == '[' ? section_begin(file, line, err) : key_value(file, line, err);
    if (status == PAWL_OK && file->keys != NULL)
        status = file->end(file, err);
    arena_free(arena);
    return status;
}
