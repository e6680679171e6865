/* Parsing the configuration: flags, then the environment, then the file (INI), then defaults. */
#include "base/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

struct options_parser {
    struct arena *arena;
    const struct options_input *input;
    struct options *options;
    pawl_error *err;
};

char *options_flag(const struct option_row *row, char text[static OPTION_FLAG_BYTES]) {
    snprintf(text, OPTION_FLAG_BYTES, "--%s", row->name);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
    return text;
}

/* Whether `whole` is `part` followed by another word. */
static bool goes_on(const char *whole, const char *part) {
    size_t len = strlen(part);
    return strncmp(whole, part, len) == 0 && (whole[len] == '_' || whole[len] == '-');
}

const char *options_suggest(const char *typed, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = strlen(typed) / 3 + 2; /* at most a third of the word wrong, and one edit always */
    for (size_t i = 0; i < count; i++) {
        size_t distance = goes_on(names[i], typed) ? 1 : str_distance(str_from(typed), str_from(names[i]));
        if (distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

/* What follows PAWL_ or WORKER_; NULL for every other name. */
static const char *own_part(const char *name) {
    return strncmp(name, "PAWL_", 5) == 0 ? name + 5 : strncmp(name, "WORKER_", 7) == 0 ? name + 7 : NULL;
}

/* Variables that a cluster sets for a service whose name begins like ours: …_SERVICE_HOST,
 * …_SERVICE_PORT[_NAME], …_PORT, …_PORT_80_TCP[_ADDR]. */
static bool variable_of_cluster(const char *name) {
    const char *host = strstr(name, "_SERVICE_HOST"), *port = strstr(name, "_SERVICE_PORT");
    if ((host != NULL && host[13] == '\0') || (port != NULL && (port[13] == '\0' || port[13] == '_')))
        return true;
    for (port = strstr(name, "_PORT"); port != NULL; port = strstr(port + 1, "_PORT")) {
        size_t digits = port[5] == '_' ? strspn(port + 6, "0123456789") : 0;
        const char *rest = port + 6 + digits;
        if (port[5] == '\0' ||
            (digits > 0 && (strncmp(rest, "_TCP", 4) == 0 || strncmp(rest, "_UDP", 4) == 0)))
            return true;
    }
    return false;
}

/* Variables that pawl sets itself, or reads although they are not in the table. */
static bool variable_given(const char *part) {
    static const char *const given[] = {"ACTOR",    "ATTEMPT",       "ID",          "IDEMPOTENCY_KEY",
                                        "JOB_ID",   "KIND",          "PERSPECTIVE", "QUEUE",
                                        "RECEPTOR", "REPLAY",        "RUN",         "SEQ",
                                        "STREAM",   "TASK",          "TOKEN",       "TOOL",
                                        "TOPIC",    "TYPE",          "TRACEPARENT", "TRANSPORT_DIR",
                                        "VERSION",  "WEBHOOK_SECRET"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (strcmp(part, given[i]) == 0)
            return true;
    return goes_on(part, "TEST");
}

bool options_variable_unknown(const char *name, const char **meant) {
    const char *part = own_part(name), *best = NULL;
    size_t best_distance = part != NULL ? strlen(part) / 4 + 2 : 0;
    if (part == NULL || variable_of_cluster(name) || (name[0] == 'P' && variable_given(part)))
        return false;
    for (size_t i = 0; i < 2 * (size_t)OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i / 2];
        const char *known = i % 2 == 0 ? row->environment : row->alias;
        const char *known_part = known != NULL ? own_part(known) : NULL;
        if (known_part == NULL)
            continue;
        if (strcmp(known, name) == 0)
            return false;
        size_t distance = str_distance(str_from(part), str_from(known_part));
        if (goes_on(part, known_part) || goes_on(known_part, part))
            distance = 1;
        distance += known[0] != name[0]; /* prefer the one with the same beginning */
        if (distance < best_distance || (best != NULL && distance == best_distance && known[0] == name[0])) {
            best = known;
            best_distance = distance;
        }
    }
    *meant = best;
    return true;
}

/* Rows are numbered through: first the global ones, then the command's own. */
static size_t row_count(const struct options_parser *parser) {
    return OPTION_COUNT + parser->input->extra_count;
}

static const struct option_row *row_at(const struct options_parser *parser, size_t index) {
    return index < OPTION_COUNT ? &option_rows[index] : &parser->input->extra[index - OPTION_COUNT];
}

static struct option_value *value_at(const struct options_parser *parser, size_t index) {
    return index < OPTION_COUNT ? &parser->options->values[index]
                                : &parser->options->extra[index - OPTION_COUNT];
}

/* Whether the first len bytes written are the name of the row, with - or _. */
static bool is_name(const struct option_row *row, const char *written, size_t len) {
    bool same = strlen(row->name) == len;
    for (size_t i = 0; same && i < len; i++)
        same = row->name[i] == (written[i] == '-' ? '_' : written[i]);
    return same;
}

/* The row that an argument names, or row_count. *attached is the value that is part of the argument, or NULL.
 */
static size_t find_flag(const struct options_parser *parser, const char *argument, const char **attached) {
    size_t count = row_count(parser);
    bool is_long = argument[1] == '-';
    const char *name = argument + (is_long ? 2 : 1);
    size_t len = is_long ? strcspn(name, "=") : 1;
    *attached = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = row_at(parser, i);
        if (is_long ? memchr(name, '_', len) != NULL || !is_name(row, name, len)
                    : row->letter == '\0' || row->letter != name[0])
            continue;
        if (name[len] != '\0')
            *attached = name + len + (name[len] == '=' ? 1 : 0);
        return i;
    }
    return count;
}

static bool looks_like_flag(const char *argument) { return argument[0] == '-' && argument[1] != '\0'; }

static pawl_status refuse_flag(const struct options_parser *parser, const char *argument) {
    size_t count = row_count(parser);
    const char **names = arena_array(parser->arena, count, sizeof *names);
    for (size_t i = 0; names != NULL && i < count; i++) {
        char flag[OPTION_FLAG_BYTES];
        names[i] = arena_strdup(parser->arena, options_flag(row_at(parser, i), flag));
        if (names[i] == NULL)
            names = NULL;
    }
    char typed[OPTION_FLAG_BYTES];
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument, "="), argument);
    const char *close = names != NULL ? options_suggest(typed, names, count) : NULL;
    if (close != NULL)
        return error_set(parser->err, PAWL_INVALID, "options", "unknown option %s; did you mean %s?", typed,
                         close);
    return error_set(parser->err, PAWL_INVALID, "options", "unknown option %s; --help lists the options",
                     typed);
}

/* Takes the flag at argv[*at] and, when it needs one, the value after it. */
static pawl_status take_flag(const struct options_parser *parser, int *at) {
    const char *argument = parser->input->argv[*at];
    const char *text = NULL;
    size_t index = find_flag(parser, argument, &text);
    if (index == row_count(parser))
        return refuse_flag(parser, argument);
    const struct option_row *row = row_at(parser, index);
    char label[OPTION_FLAG_BYTES];
    options_flag(row, label);
    if (text == NULL && row->type == OPTION_BOOL)
        text = "true";
    if (text == NULL) {
        if (*at + 1 >= parser->input->argc)
            return error_set(parser->err, PAWL_INVALID, "options", "%s needs a value after it", label);
        text = parser->input->argv[++*at];
    }
    struct option_value *value = value_at(parser, index);
    if (value->source == OPTION_FROM_FLAG && row->type != OPTION_BOOL)
        return error_set(parser->err, PAWL_INVALID, "options", "%s is given twice; keep one", label);
    struct option_place place = {OPTION_FROM_FLAG, label, false};
    return option_value_parse(row, str_from(text), &place, value, parser->err);
}

static pawl_status take_arguments(const struct options_parser *parser) {
    struct options *options = parser->options;
    bool flags_ended = false;
    for (int at = 1; at < parser->input->argc; at++) {
        const char *argument = parser->input->argv[at];
        if (!flags_ended && strcmp(argument, "--") == 0) {
            flags_ended = true;
        } else if (!flags_ended && looks_like_flag(argument)) {
            pawl_status status = take_flag(parser, &at);
            if (status != PAWL_OK)
                return status;
        } else {
            options->positional[options->positional_count++] = argument;
        }
    }
    return PAWL_OK;
}

static const char *read_variable(const struct options_input *input, const char *name) {
    if (name == NULL)
        return NULL;
    const char *text = input->getenv != NULL ? input->getenv(input->self, name) : getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL; /* set to nothing means not set */
}

/* Values from the environment, for rows that no flag has set. */
static pawl_status take_variable(const struct options_parser *parser, size_t index) {
    const struct option_row *row = row_at(parser, index);
    struct option_place place = {OPTION_FROM_ENVIRONMENT, row->environment, false};
    const char *text = read_variable(parser->input, row->environment);
    if (text == NULL) {
        place = (struct option_place){OPTION_FROM_ENVIRONMENT, row->alias, true};
        text = read_variable(parser->input, row->alias);
    }
    if (text == NULL || value_at(parser, index)->source == OPTION_FROM_FLAG)
        return PAWL_OK;
    const char *copy = arena_strdup(parser->arena, text); /* the environment may change */
    if (copy == NULL)
        return error_set(parser->err, PAWL_NO_MEMORY, "options", "no memory for %s", place.label);
    return option_value_parse(row, str_from(copy), &place, value_at(parser, index), parser->err);
}

static pawl_status take_fallback(const struct options_parser *parser, size_t index) {
    const struct option_row *row = row_at(parser, index);
    struct option_value *value = value_at(parser, index);
    if (value->set || row->fallback == NULL)
        return PAWL_OK;
    struct option_place place = {OPTION_FROM_DEFAULT, row->name, false};
    return option_value_parse(row, str_from(row->fallback), &place, value, parser->err);
}

static pawl_status take_each(const struct options_parser *parser,
                             pawl_status (*take)(const struct options_parser *, size_t)) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < row_count(parser); i++)
        status = take(parser, i);
    return status;
}

struct options_reader {
    struct arena *arena;
    const char *path;
    struct options *options;
    bool seen[OPTION_COUNT];
    pawl_error *err;
};

static enum option_id find_row(const char *name) {
    for (int id = 0; id < OPTION_COUNT; id++)
        if (!option_rows[id].flag_only && is_name(&option_rows[id], name, strlen(name)))
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
static pawl_status take_pair(struct options_reader *reader, const char *section, const char *name,
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
    return take_pair(reader, texts[0], texts[1], texts[2]);
}

/* Reads the file into values that nothing stronger has set yet. */
static pawl_status take_file(struct arena *arena, const char *path, struct options *options,
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

pawl_status options_parse(struct arena *arena, const struct options_input *input, struct options *options,
                          pawl_error *err) {
    struct options parsed = {.positional_count = 0};
    struct options_parser parser = {arena, input, &parsed, err};
    if (input->argc < 0 || input->argc > PAWL_ARGUMENTS_MAX)
        return error_set(err, PAWL_INVALID, "options", "more than %d arguments", PAWL_ARGUMENTS_MAX);
    parsed.positional = arena_array(arena, (size_t)input->argc + 1, sizeof *parsed.positional);
    parsed.extra = arena_array(arena, input->extra_count, sizeof *parsed.extra);
    if (parsed.positional == NULL || parsed.extra == NULL)
        return error_no_memory(err, "options");

    pawl_status status = take_arguments(&parser);
    /* Help must work even if the configuration is wrong. */
    bool only_asking = parsed.values[OPTION_HELP].number != 0 || parsed.values[OPTION_VERSION].number != 0;
    if (status == PAWL_OK && !only_asking)
        status = take_each(&parser, take_variable);
    if (status == PAWL_OK && !only_asking && parsed.values[OPTION_CONFIG].set)
        status = take_file(arena, parsed.values[OPTION_CONFIG].text.ptr, &parsed, err);
    if (status == PAWL_OK)
        status = take_each(&parser, take_fallback);
    if (status == PAWL_OK)
        *options = parsed;
    return status;
}

pawl_str options_text(const struct options *options, enum option_id id) { return options->values[id].text; }

int64_t options_number(const struct options *options, enum option_id id) {
    return options->values[id].number;
}

bool options_bool(const struct options *options, enum option_id id) {
    return options->values[id].number != 0;
}
