/* Completing the words of pawl, from the tables of commands, flags and options. */
#include "cli/help/completion.h"

#include <string.h>

#include "cli/arguments.h"
#include "cli/command.h"

/* Every script passes the words up to the cursor to `pawl help complete`. */
static const struct {
    const char *shell, *text;
} scripts[] = {
    {"bash", "# bash completion for pawl, made by: pawl help completion bash\n"
             "_pawl() {\n"
             "    local current=${COMP_WORDS[COMP_CWORD]}\n"
             "    local -a found\n"
             "    [[ $current != = ]] || current=\n"
             "    mapfile -t found < <(\"${COMP_WORDS[0]}\" help complete -- "
             "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
             "    if [[ ${found[0]-} == '<file>' ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
             "    else\n"
             "        COMPREPLY=(\"${found[@]%%$'\\t'*}\")\n"
             "    fi\n"
             "}\n"
             "complete -o default -F _pawl pawl\n"},
    {"zsh",
     "#compdef pawl\n# zsh completion for pawl, made by: pawl help completion zsh\n"
     "_pawl() {\n"
     "    local -a found\n"
     "    found=(\"${(@f)$(\"${words[1]}\" help complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
     "    if [[ -z ${found[1]} || ${found[1]} == '<file>' ]]; then\n"
     "        _files\n"
     "    else\n"
     "        found=(${found/$'\\t'/:})\n"
     "        _describe word found\n"
     "    fi\n"
     "}\n"
     "if [[ ${funcstack[1]} == _pawl ]]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n"},
    {"fish", "# fish completion for pawl, made by: pawl help completion fish\n"
             "function __pawl_complete\n"
             "    set -l words (commandline -opc)\n"
             "    set -l current (commandline -ct)\n"
             "    set -l found ($words[1] help complete -- $words[2..-1] \"$current\" 2>/dev/null)\n"
             "    if test \"$found[1]\" = '<file>'\n"
             "        __fish_complete_path \"$current\"\n"
             "    else\n"
             "        printf '%s\\n' $found\n"
             "    end\n"
             "end\n"
             "complete -c pawl -f -a '(__pawl_complete)'\n"},
};

const char *completion_script(const char *shell) {
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(scripts[i].shell, shell) == 0)
            return scripts[i].text;
    return NULL;
}

/* What is typed so far, and the commands that it may mean. */
struct typed {
    struct buf *out;
    const char *current, *before; /* before: the flag whose value the current word is; NULL: none */
    const char *words[2];         /* the first that are no flags */
    int word_count;
};

static void offer(const struct typed *typed, pawl_str word, const char *help) {
    size_t len = strlen(typed->current);
    if (word.len >= len && memcmp(word.ptr, typed->current, len) == 0)
        buf_printf(typed->out, "%.*s\t%s\n", (int)word.len, word.ptr, help);
}

static void offer_words(const struct typed *typed, const char *words, char between) {
    while (*words != '\0') {
        const char *end = strchrnul(words, between);
        offer(typed, (pawl_str){words, (size_t)(end - words)}, "");
        words = end + (*end != '\0');
    }
}

/* The values of a flag: its choices, or the names of files. */
static void offer_values(const struct typed *typed, const char *choices, bool file) {
    if (choices != NULL)
        offer_words(typed, choices, '|');
    else if (file)
        buf_append_cstr(typed->out, "<file>\n");
}

static bool option_is_file(int id) {
    return id == OPTION_CONFIG || id == OPTION_DATABASE_URL || id == OPTION_TOOLS ||
           id == OPTION_TOKEN_FILE || id == OPTION_TLS_CERT || id == OPTION_TLS_KEY;
}

/* The flags of a command, or the values of the one that was typed. */
static void offer_flags(const struct typed *typed, const struct operation *command) {
    char name[OPTION_FLAG_BYTES], value[INPUT_NAME_BYTES];
    const struct field *input;
    for (size_t i = 0; command != NULL && (input = command_input(command, i)) != NULL; i++) {
        if (input_is_word(input))
            continue;
        (void)input_label(input, name);
        if (typed->before == NULL)
            offer(typed, (pawl_str){name, strlen(name)}, input->help);
        else if (strcmp(typed->before, name) == 0)
            offer_values(typed, input->choices, strstr(input_value(input, value), "FILE") != NULL);
    }
    uint64_t options = OPTION_BITS_COMMON | (command != NULL ? command->options : 0);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        const char letter[] = {'-', row->letter, '\0'};
        if ((options & OPTION_BIT(id)) == 0)
            continue;
        (void)options_flag(row, name);
        if (typed->before == NULL)
            offer(typed, (pawl_str){name, strlen(name)}, row->help);
        else if (strcmp(typed->before, name) == 0 || (row->letter != 0 && strcmp(typed->before, letter) == 0))
            offer_values(typed, row->choices, option_is_file(id));
    }
}

/* The verbs of a noun; without one, the nouns, each once. */
static void offer_commands(const struct typed *typed, const char *noun) {
    const struct operation *command;
    char path[COMMAND_PATH_BYTES];
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        size_t len = strcspn(command_path(command, path), " "), first = 0;
        while (noun == NULL && (strcspn(command_at(first)->name, ".") != len ||
                                strncmp(command_at(first)->name, path, len) != 0))
            first++;
        if (noun == NULL && first == i)
            offer(typed, (pawl_str){path, len}, command->summary);
        else if (noun != NULL && command_in_group(command, noun) && path[len] == ' ')
            offer(typed, (pawl_str){path + len + 1, strlen(path + len + 1)}, command->summary);
    }
}

static void offer_next(const struct typed *typed) {
    const char *const *words = typed->words;
    bool help = typed->word_count > 0 && strcmp(words[0], "help") == 0;
    if (typed->word_count == 0 || (help && typed->word_count == 1))
        offer_commands(typed, NULL);
    if (help && typed->word_count == 1)
        offer_words(typed, "options exit-codes man completion markdown", ' ');
    else if (help && typed->word_count == 2 && strcmp(words[1], "completion") == 0)
        offer_words(typed, "bash zsh fish", ' ');
    else if (typed->word_count == 1 + help)
        offer_commands(typed, words[help]);
}

void completion_answer(struct buf *buf, const char *const *words, int count) {
    struct typed typed = {.out = buf, .current = count > 0 ? words[count - 1] : ""};
    const struct operation *command = NULL;
    pawl_error ignored;
    int used;
    for (int i = 0; i < count - 1; i++) {
        if (strcmp(words[i], "=") == 0) /* bash makes three words of --flag=value */
            continue;
        if (typed.before != NULL)
            typed.before = NULL;
        else if (words[i][0] == '-')
            typed.before = arguments_takes_next(words[i]) ? words[i] : NULL;
        else if (typed.word_count < 2)
            typed.words[typed.word_count++] = words[i];
    }
    if (strcmp(typed.current, "=") == 0)
        typed.current = "";
    if (typed.word_count > 0 &&
        command_find(typed.words, typed.word_count, &command, &used, &ignored) != PAWL_OK)
        command = NULL;
    if (typed.before != NULL || typed.current[0] == '-')
        offer_flags(&typed, command);
    else
        offer_next(&typed);
}
