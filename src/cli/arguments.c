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
    bool failed = made == NULL;
    AUTO_BUF(shown, 0);
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
    if (failed)
        return error_set(err, PAWL_NO_MEMORY, "arguments", "no memory for the command line");
    *copy = made;
    return PAWL_OK;
}

/* What the walk over argv collects. */
struct walk {
    struct arena *arena;
    int argc;
    char **argv;
    int at;
    struct arguments *arguments;
    char **passed; /* argv of options_parse */
    int passed_count;
    uint64_t options_seen;
    struct tree *lists; /* one per input: what was given of those that may be given again */
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

/* "-" is standard input and "-5" is JSON: neither is a flag. */
static bool is_flag(const char *text) {
    return text[0] == '-' && text[1] != '\0' && !isdigit((unsigned char)text[1]);
}

/* The command's flag with that name; its index in *index. NULL: it has none. */
static const struct field *flag_find(const struct operation *command, pawl_str name, size_t *index) {
    const struct field *input;
    char flag[INPUT_NAME_BYTES];
    for (*index = 0; (input = command_input(command, *index)) != NULL; ++*index)
        if (!input_is_word(input) && str_equal_cstr(name, input_flag(input, flag)))
            return input;
    return NULL;
}

/* ---- The command, which may follow its flags */

bool arguments_takes_next(const char *text) {
    if (text[1] != '-') {
        enum option_id id = option_letter(text[1]);
        return id != OPTION_COUNT && option_rows[id].type != OPTION_BOOL && text[2] == '\0';
    }
    pawl_str name = str_from(text + 2);
    if (memchr(name.ptr, '=', name.len) != NULL)
        return false;
    enum option_id id = option_find(name.ptr, name.len);
    if (id != OPTION_COUNT && option_rows[id].type != OPTION_BOOL)
        return true;
    const struct operation *command;
    for (size_t i = 0, index; (command = command_at(i)) != NULL; i++) {
        const struct field *input = flag_find(command, name, &index);
        if (input != NULL)
            return input->type != FIELD_BOOL;
    }
    return false;
}

static pawl_status find_command(const struct walk *walk, const struct operation **command, int *used,
                                pawl_error *err) {
    const char *words[2];
    int count = 0;
    bool only_words = false;
    for (int i = 1; i < walk->argc && count < 2; i++) {
        if (!only_words && strcmp(walk->argv[i], "--") == 0)
            only_words = true;
        else if (!only_words && is_flag(walk->argv[i]))
            i += arguments_takes_next(walk->argv[i]);
        else
            words[count++] = walk->argv[i];
    }
    return command_find(words, count, command, used, err);
}

/* ---- Its flags */

/* One more value of an input that may have several: the command line has room for no more than its arguments.
 */
static pawl_status add_value(const struct walk *walk, struct tree *list, pawl_str text, pawl_error *err) {
    if (list->items == NULL)
        list->items = arena_array(walk->arena, (size_t)walk->argc, sizeof *list->items);
    struct tree *item = tree_scalar(walk->arena, TREE_STRING, text);
    if (list->items == NULL || item == NULL)
        return error_set(err, PAWL_NO_MEMORY, "arguments", "no memory for the command line");
    list->items[list->count++] = item;
    return PAWL_OK;
}

static pawl_status take_value(struct walk *walk, const struct field *input, size_t index, pawl_str text,
                              pawl_error *err) {
    char label[INPUT_NAME_BYTES];
    pawl_status status =
        field_from_word(input, input_label(input, label), text, &walk->arguments->values[index], err);
    if (status != PAWL_OK || !input_is_many(input))
        return status;
    walk->arguments->values[index].tree = &walk->lists[index];
    return add_value(walk, &walk->lists[index], text, err);
}

/* Takes one flag of the command, whose value follows '=' or is the next word. */
static pawl_status take_flag(struct walk *walk, const struct field *input, size_t index, const char *text,
                             pawl_error *err) {
    char name[INPUT_NAME_BYTES], value[INPUT_NAME_BYTES];
    (void)input_flag(input, name);
    if (walk->arguments->values[index].present && !input_is_many(input))
        return error_set(err, PAWL_INVALID, "arguments", "--%s is there twice: give it once", name);
    if (text == NULL && input->type == FIELD_BOOL)
        text = "true";
    if (text == NULL && walk->at + 1 >= walk->argc)
        return error_set(err, PAWL_INVALID, "arguments", "--%s needs a value: --%s %s", name, name,
                         input_value(input, value));
    if (text == NULL)
        text = walk->argv[++walk->at];
    return take_value(walk, input, index, str_from(text), err);
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

/* What other tools call it. */
static const char *const other_words[][2] = {{"delay", "due"},
                                             {"run-at", "due"},
                                             {"at", "due"},
                                             {"retries", "max-attempts"},
                                             {"retry", "max-attempts"},
                                             {"db", "database-url"},
                                             {"url", "database-url"},
                                             {"workers", "concurrency"},
                                             {"threads", "concurrency"},
                                             {"handler", "on"},
                                             {"json", "output"},
                                             {"format", "output"},
                                             {"dedupe", "unique-key"},
                                             {"idempotency-key", "request"}};

/* The name that is closest to what was typed, or means what other tools call so; NULL if none does. */
static const char *flag_meant(const char *typed, const char *const *names, size_t count) {
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        for (size_t k = 0; strcmp(other_words[i][0], typed) == 0 && k < count; k++)
            if (strcmp(other_words[i][1], names[k]) == 0)
                return names[k];
    return options_suggest(typed, names, count);
}

static pawl_status unknown_flag(const struct operation *command, const char *text, pawl_error *err) {
    enum { NAMES_MAX = 160 };
    const char *names[NAMES_MAX];
    char flags[NAMES_MAX][OPTION_FLAG_BYTES], path[COMMAND_PATH_BYTES], typed[64];
    size_t count = 0;
    const struct field *input;
    for (size_t i = 0; (input = command_input(command, i)) != NULL && count < NAMES_MAX; i++)
        if (!input_is_word(input)) {
            names[count] = input_flag(input, flags[count]);
            count++;
        }
    for (int id = 0; id < OPTION_COUNT && count < NAMES_MAX; id++)
        if (((command->options | OPTION_BITS_COMMON) & OPTION_BIT(id)) != 0) {
            names[count] = options_flag(&option_rows[id], flags[count]) + 2;
            count++;
        }
    const char *bare = text + strspn(text, "-");
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(bare, "="), bare);
    const char *close = flag_meant(typed, names, count);
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "arguments", "there is no option %s here. Did you mean --%s?",
                         text, close);
    return error_set(err, PAWL_INVALID, "arguments",
                     "there is no option %s here. pawl help %s shows what it takes", text,
                     command_path(command, path));
}

static pawl_status take_one(struct walk *walk, pawl_error *err) {
    const struct operation *command = walk->arguments->command;
    const char *text = walk->argv[walk->at];
    if (!is_flag(text)) {
        walk->arguments->words[walk->arguments->word_count++] = text;
        return PAWL_OK;
    }
    enum option_id option = OPTION_COUNT;
    const char *value = NULL;
    if (text[1] == '-') {
        const char *name = text + 2;
        size_t len = strcspn(name, "="), index;
        value = name[len] == '=' ? name + len + 1 : NULL;
        const struct field *input = flag_find(command, (pawl_str){name, len}, &index);
        if (input != NULL)
            return take_flag(walk, input, index, value, err);
        option = option_find(name, len);
    } else {
        option = option_letter(text[1]);
        value = text[2] != '\0' ? text + 2 : NULL;
    }
    bool taken = option != OPTION_COUNT &&
                 ((command->options | OPTION_BITS_COMMON) & OPTION_BIT(option)) != 0;
    return taken ? pass_option(walk, option, value != NULL, err) : unknown_flag(command, text, err);
}

static pawl_status walk_all(struct walk *walk, pawl_error *err) {
    bool only_words = false;
    pawl_status status = PAWL_OK;
    for (walk->at = 1; walk->at < walk->argc && status == PAWL_OK; walk->at++) {
        if (only_words)
            walk->arguments->words[walk->arguments->word_count++] = walk->argv[walk->at];
        else if (strcmp(walk->argv[walk->at], "--") == 0)
            only_words = true;
        else
            status = take_one(walk, err);
    }
    return status;
}

/* ---- Its words */

static pawl_status words_wrong(const struct operation *command, const char *extra, pawl_error *err) {
    char path[COMMAND_PATH_BYTES];
    AUTO_BUF(takes, 0);
    command_words(&takes, command);
    (void)command_path(command, path);
    return extra != NULL
               ? error_set(err, PAWL_INVALID, "arguments",
                           "\"%s\" is one word too many. pawl help %s shows what it takes", extra, path)
               : error_set(err, PAWL_INVALID, "arguments", "it needs more words: pawl %s%s", path,
                           takes.failed ? "" : takes.ptr);
}

/* Those that may be left out get a word only when there are enough for the others. */
static pawl_status assign_words(struct walk *walk, pawl_error *err) {
    struct arguments *arguments = walk->arguments;
    const struct operation *command = arguments->command;
    int needed = 0, at = 0;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < command->field_count; i++)
        needed += input_is_word(&command->fields[i]) && command->fields[i].required;
    if (arguments->word_count < needed)
        return words_wrong(command, NULL, err);
    int spare = arguments->word_count - needed;
    for (size_t i = 0; i < command->field_count && status == PAWL_OK; i++) {
        const struct field *input = &command->fields[i];
        if (!input_is_word(input) || (!input->required && spare == 0))
            continue;
        spare -= !input->required;
        do
            status = take_value(walk, input, i, str_from(arguments->words[at++]), err);
        while (status == PAWL_OK && input_is_many(input) && spare > 0 && spare-- > 0);
    }
    return status == PAWL_OK && at < arguments->word_count ? words_wrong(command, arguments->words[at], err)
                                                           : status;
}

/* What is no word must be given as a flag. */
static pawl_status check_required(const struct arguments *arguments, pawl_error *err) {
    const struct field *input;
    char label[INPUT_NAME_BYTES], value[INPUT_NAME_BYTES];
    for (size_t i = 0; (input = command_input(arguments->command, i)) != NULL; i++)
        if (input->required && !arguments->values[i].present)
            return error_set(err, PAWL_INVALID, "arguments", "it needs %s %s", input_label(input, label),
                             input_value(input, value));
    return PAWL_OK;
}

pawl_status arguments_parse(struct arena *arena, int argc, char **argv, struct arguments *arguments,
                            pawl_error *err) {
    *arguments = (struct arguments){.command = NULL};
    if (argc > PAWL_ARGUMENTS_MAX)
        return error_set(err, PAWL_INVALID, "arguments", "more than %d arguments", PAWL_ARGUMENTS_MAX);
    size_t slots = (size_t)argc + 1;
    int used = 0;
    struct walk walk = {.arena = arena, .argc = argc, .argv = argv, .arguments = arguments};
    TRY(find_command(&walk, &arguments->command, &used, err));
    walk.passed = arena_array(arena, slots, sizeof *walk.passed);
    arguments->words = arena_array(arena, slots, sizeof *arguments->words);
    size_t inputs = operation_inputs(arguments->command) + 1;
    arguments->values = arena_array(arena, inputs, sizeof *arguments->values);
    walk.lists = arena_array(arena, inputs, sizeof *walk.lists);
    if (walk.passed == NULL || arguments->words == NULL || arguments->values == NULL || walk.lists == NULL)
        return error_set(err, PAWL_NO_MEMORY, "arguments", "no memory for the command line");
    for (size_t i = 0; i < inputs; i++)
        walk.lists[i].kind = TREE_ARRAY;
    walk.passed[walk.passed_count++] = argc > 0 ? argv[0] : (char *)"pawl";
    TRY(walk_all(&walk, err));
    arguments->words += used;
    arguments->word_count -= used;
    struct options_input input = {.argc = walk.passed_count, .argv = walk.passed};
    TRY(options_parse(arena, &input, &arguments->options, err));
    if (options_bool(&arguments->options, OPTION_HELP) || options_bool(&arguments->options, OPTION_VERSION))
        return PAWL_OK; /* whatever else is there does not matter */
    TRY(assign_words(&walk, err));
    return check_required(arguments, err);
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
