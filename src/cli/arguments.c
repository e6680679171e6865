/* Parsing the command line: the command, its flags and words, and global options. */
#include "cli/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options/url.h"
#include "base/str.h"

/* Overwrites the argument with what may be shown of it. */
static void show_redacted(char *argument, pawl_str shown) {
    size_t len = strlen(argument), kept = shown.len < len ? shown.len : len;
    memcpy(argument, shown.ptr, kept);
    memset(argument + kept, '\0', len - kept);
}

pawl_status arguments_hide(struct arena *arena, int argc, char **argv, char ***copy, pawl_error *err) {
    char **made = arena_array(arena, (size_t)argc + 1, sizeof *made);
    struct buf shown;
    bool failed = made == NULL;
    buf_init(&shown, 0);
    for (int i = 0; i < argc && !failed; i++) {
        made[i] = arena_strdup(arena, argv[i]);
        buf_reset(&shown);
        size_t name = strncmp(argv[i], "--", 2) == 0 ? strcspn(argv[i], "=") : 0;
        buf_append(&shown, argv[i], name + (name > 0 && argv[i][name] == '='));
        url_redact(&shown, str_from(argv[i] + shown.len));
        failed = made[i] == NULL || shown.failed;
        if (!failed && !str_equal_cstr(buf_str(&shown), argv[i]))
            show_redacted(argv[i], buf_str(&shown));
    }
    buf_free(&shown);
    if (failed)
        return error_set(err, PAWL_NO_MEMORY, "arguments", "no memory for the command line");
    *copy = made;
    return PAWL_OK;
}

/* What the walk over argv collects before it can be judged. */
struct walk {
    int argc;
    char **argv;
    int at;
    struct arguments *arguments;
    char **passed; /* argv of options_parse */
    int passed_count;
    uint64_t options_seen;
    const char **words;
    int word_count;
    const char *unknown; /* the first flag that nothing knows */
};

static enum option_id option_find(const char *name, size_t len) {
    char flag[OPTION_FLAG_BYTES];
    int id = 0;
    while (id < OPTION_COUNT &&
           !str_equal_cstr((pawl_str){name, len}, options_flag(&option_rows[id], flag) + 2))
        id++;
    return (enum option_id)id;
}

static enum option_id option_letter(char letter) {
    int id = 0;
    while (id < OPTION_COUNT && option_rows[id].letter != letter)
        id++;
    return (enum option_id)id;
}

/* Takes one flag of a command, whose value follows '=' or is the next word. */
static pawl_status take_flag(struct walk *walk, enum flag_id id, const char *value, pawl_error *err) {
    const struct flag_row *row = &flag_rows[id];
    struct arguments *arguments = walk->arguments;
    if (row->type == FLAG_SWITCH && value != NULL)
        return error_set(err, PAWL_INVALID, "arguments", "--%s takes no value", row->name);
    if (row->type != FLAG_SWITCH && value == NULL) {
        if (walk->at + 1 >= walk->argc)
            return error_set(err, PAWL_INVALID, "arguments", "--%s needs a value: --%s %s", row->name,
                             row->name, row->value);
        value = walk->argv[++walk->at];
    }
    if (arguments->flags[id].set && !row->repeat)
        return error_set(err, PAWL_INVALID, "arguments", "--%s is there twice: give it once", row->name);
    pawl_status status = flag_parse(id, value != NULL ? value : "", &arguments->flags[id], err);
    if (status == PAWL_OK && id == FLAG_HEADER)
        arguments->headers[arguments->header_count++] = arguments->flags[id].text;
    if (status == PAWL_OK && id == FLAG_ON)
        arguments->ons[arguments->on_count++] = arguments->flags[id].text;
    return status;
}

/* Hands one option of the program on to options_parse, with its value. */
static pawl_status pass_option(struct walk *walk, enum option_id id, bool has_value, pawl_error *err) {
    const struct option_row *row = &option_rows[id];
    char flag[OPTION_FLAG_BYTES];
    if (id == OPTION_OUTPUT && (walk->options_seen & OPTION_BIT(id)) != 0)
        return error_set(err, PAWL_INVALID, "arguments", "two outputs are asked for: give %s once",
                         options_flag(row, flag));
    walk->options_seen |= OPTION_BIT(id);
    walk->passed[walk->passed_count++] = walk->argv[walk->at];
    if (has_value || row->type == OPTION_BOOL)
        return PAWL_OK;
    if (walk->at + 1 >= walk->argc)
        return error_set(err, PAWL_INVALID, "arguments", "%s needs a value", options_flag(row, flag));
    walk->passed[walk->passed_count++] = walk->argv[++walk->at];
    return PAWL_OK;
}

static pawl_status take_one(struct walk *walk, pawl_error *err) {
    const char *text = walk->argv[walk->at];
    /* "-" is standard input and "-5" is JSON: neither is a flag. */
    if (text[0] != '-' || text[1] == '\0' || isdigit((unsigned char)text[1])) {
        walk->words[walk->word_count++] = text;
        return PAWL_OK;
    }
    if (text[1] != '-') {
        enum option_id id = option_letter(text[1]);
        if (id != OPTION_COUNT)
            return pass_option(walk, id, text[2] != '\0', err);
        walk->unknown = text;
        return PAWL_OK;
    }
    const char *name = text + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    enum flag_id flag = flag_find(name, len);
    if (flag != FLAG_TOTAL)
        return take_flag(walk, flag, value, err);
    enum option_id option = option_find(name, len);
    if (option != OPTION_COUNT)
        return pass_option(walk, option, value != NULL, err);
    walk->unknown = text;
    return PAWL_OK;
}

static pawl_status unknown_flag(const struct operation *command, const char *text, pawl_error *err) {
    const char *names[FLAG_TOTAL + OPTION_COUNT];
    char flags[OPTION_COUNT][OPTION_FLAG_BYTES];
    size_t count = 0;
    for (int id = 0; id < FLAG_TOTAL; id++)
        if ((command->flags & FLAG_BIT(id)) != 0)
            names[count++] = flag_rows[id].name;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (((command->options | OPTION_BITS_COMMON) & OPTION_BIT(id)) != 0)
            names[count++] = options_flag(&option_rows[id], flags[id]) + 2;
    char typed[64];
    size_t len = strcspn(text + strspn(text, "-"), "=");
    snprintf(typed, sizeof typed, "%.*s", len < sizeof typed ? (int)len : (int)sizeof typed - 1,
             text + strspn(text, "-"));
    const char *close = options_suggest(typed, names, count);
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "arguments", "there is no option %s. Did you mean --%s?", text,
                         close);
    return error_set(err, PAWL_INVALID, "arguments",
                     "there is no option %s. pawl help %s shows what it takes", text, command->command);
}

/* Whether the command takes what was given to it. */
static pawl_status judge(const struct walk *walk, pawl_error *err) {
    const struct arguments *arguments = walk->arguments;
    const struct operation *command = arguments->command;
    for (int id = 0; id < FLAG_TOTAL; id++)
        if (arguments->flags[id].set && (command->flags & FLAG_BIT(id)) == 0)
            return error_set(err, PAWL_INVALID, "arguments",
                             "it does not take --%s. pawl help %s shows what it takes", flag_rows[id].name,
                             command->command);
    char flag[OPTION_FLAG_BYTES];
    uint64_t taken = command->options | OPTION_BITS_COMMON;
    for (int id = 0; id < OPTION_COUNT; id++)
        if ((walk->options_seen & ~taken & OPTION_BIT(id)) != 0)
            return error_set(err, PAWL_INVALID, "arguments",
                             "it does not take %s. pawl help %s shows what it takes",
                             options_flag(&option_rows[id], flag), command->command);
    struct word_range takes = command_words(command);
    if (arguments->word_count < takes.min)
        return error_set(err, PAWL_INVALID, "arguments", "it needs more words: pawl %s %s", command->command,
                         command->arguments);
    if (arguments->word_count > takes.max)
        return error_set(err, PAWL_INVALID, "arguments",
                         "\"%s\" is one word too many. pawl help %s shows what it takes",
                         arguments->words[takes.max], command->command);
    return PAWL_OK;
}

static pawl_status walk_all(struct walk *walk, pawl_error *err) {
    bool only_words = false;
    for (walk->at = 1; walk->at < walk->argc; walk->at++) {
        pawl_status status = PAWL_OK;
        if (only_words)
            walk->words[walk->word_count++] = walk->argv[walk->at];
        else if (strcmp(walk->argv[walk->at], "--") == 0)
            only_words = true;
        else
            status = take_one(walk, err);
        if (status != PAWL_OK)
            return status;
        if (walk->unknown != NULL)
            break;
    }
    return PAWL_OK;
}

pawl_status arguments_parse(struct arena *arena, int argc, char **argv, struct arguments *arguments,
                            pawl_error *err) {
    *arguments = (struct arguments){.command = NULL};
    if (argc > PAWL_ARGUMENTS_MAX)
        return error_set(err, PAWL_INVALID, "arguments", "more than %d arguments", PAWL_ARGUMENTS_MAX);
    size_t slots = (size_t)argc + 1;
    struct walk walk = {.argc = argc, .argv = argv, .arguments = arguments};
    walk.passed = arena_array(arena, slots, sizeof *walk.passed);
    walk.words = arena_array(arena, slots, sizeof *walk.words);
    arguments->headers = arena_array(arena, slots, sizeof *arguments->headers);
    arguments->ons = arena_array(arena, slots, sizeof *arguments->ons);
    if (walk.passed == NULL || walk.words == NULL || arguments->headers == NULL || arguments->ons == NULL)
        return error_set(err, PAWL_NO_MEMORY, "arguments", "no memory for the command line");
    walk.passed[walk.passed_count++] = argc > 0 ? argv[0] : (char *)"pawl";
    pawl_status walked = walk_all(&walk, err);
    int used = 0;
    pawl_error lookup;
    pawl_status found = command_find(walk.words, walk.word_count, &arguments->command, &used, &lookup);
    if (walked != PAWL_OK)
        return walked;
    if (found != PAWL_OK) {
        *err = lookup;
        return found;
    }
    if (walk.unknown != NULL)
        return unknown_flag(arguments->command, walk.unknown, err);
    arguments->words = walk.words + used;
    arguments->word_count = walk.word_count - used;
    struct options_input input = {.argc = walk.passed_count, .argv = walk.passed};
    pawl_status status = options_parse(arena, &input, &arguments->options, err);
    if (status != PAWL_OK)
        return status;
    if (options_bool(&arguments->options, OPTION_HELP) || options_bool(&arguments->options, OPTION_VERSION))
        return PAWL_OK; /* whatever else is there does not matter */
    return judge(&walk, err);
}

bool arguments_want_json(int argc, char **argv) {
    for (int i = 1; i < argc && argv[i] != NULL; i++) {
        const char *value = NULL;
        if (strcmp(argv[i], "--") == 0)
            return false;
        if ((strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) && i + 1 < argc)
            value = argv[i + 1];
        else if (strncmp(argv[i], "-o", 2) == 0)
            value = argv[i] + 2;
        else if (strncmp(argv[i], "--output=", 9) == 0)
            value = argv[i] + 9;
        if (value != NULL && (strcmp(value, "json") == 0 || strcmp(value, "ndjson") == 0))
            return true;
    }
    return false;
}
