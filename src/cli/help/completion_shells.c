/* The completion scripts of bash, zsh and fish. */
#include <string.h>

#include "cli/help/completion.h"

static int noun_len(const struct operation *command) { return (int)strcspn(command->name, "."); }

/* The second word of a command; "" when it has one. */
static const char *second_word(const struct operation *command, char path[static COMMAND_PATH_BYTES]) {
    const char *rest = command_path(command, path) + noun_len(command);
    return *rest == ' ' ? rest + 1 : rest;
}

/* Whether command has a second word below the noun of group. */
static bool in_group(const struct operation *command, const struct operation *group) {
    int len = noun_len(group);
    return noun_len(command) == len && strncmp(command->name, group->name, (size_t)len) == 0 &&
           command->name[len] == '.';
}

/* The second words of every noun as branches of a case: "job) choices=(list show)". */
static void groups(struct buf *buf, void (*each)(struct buf *buf, const struct operation *command)) {
    const struct operation *group, *command;
    for (size_t i = 0; (group = command_at(i)) != NULL; i++) {
        bool any = false;
        for (size_t k = 0; completion_first(i) && (command = command_at(k)) != NULL; k++) {
            if (!in_group(command, group))
                continue;
            if (!any)
                buf_printf(buf, "        %.*s) choices=(", noun_len(group), group->name);
            any = true;
            each(buf, command);
        }
        if (any)
            buf_append_cstr(buf, ") ;;\n");
    }
}

/* ---- bash ---- */

static void bash_name(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    (void)command;
    buf_printf(buf, " %s", flag->name);
    if (flag->letter != 0)
        buf_printf(buf, " -%c", flag->letter);
}

/* The head of the case that completes a flag's value, by command and flag; false: there is nothing to offer.
 */
static bool value_head(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    char path[COMMAND_PATH_BYTES];
    if (!flag->value || (flag->choices == NULL && !flag->file))
        return false;
    if (command == NULL)
        buf_printf(buf, "        *' %s'", flag->name);
    else if (*second_word(command, path) == '\0')
        buf_printf(buf, "        '%s %s'|'%s '*' %s'", path, flag->name, path, flag->name);
    else
        buf_printf(buf, "        '%s %s'", path, flag->name);
    if (flag->letter != 0)
        buf_printf(buf, "|*' -%c'", flag->letter);
    return true;
}

/* Of every command, then of all of them. */
static void values(struct buf *buf,
                   void (*each)(struct buf *, const struct operation *, const struct completion_flag *)) {
    for (size_t i = 0; command_at(i) != NULL; i++)
        completion_flags(buf, command_at(i), each);
    completion_flags(buf, NULL, each);
}

static void bash_value(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    if (!value_head(buf, command, flag))
        return;
    if (flag->file) {
        buf_append_cstr(buf, ") mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n");
        return;
    }
    buf_append_cstr(buf, ") mapfile -t COMPREPLY < <(compgen -W '");
    completion_choices(buf, flag->choices);
    buf_append_cstr(buf, "' -- \"$current\"); return ;;\n");
}

static void takes_value(struct buf *buf, const struct operation *command,
                        const struct completion_flag *flag) {
    (void)command;
    if (!flag->value)
        return;
    buf_printf(buf, "|%s", flag->name);
    if (flag->letter != 0)
        buf_printf(buf, "|-%c", flag->letter);
}

static void bash_second(struct buf *buf, const struct operation *command) {
    char path[COMMAND_PATH_BYTES];
    buf_printf(buf, " %s", second_word(command, path));
}

/* A branch for every command with its flags; a noun alone is its list. */
static void command_flags(struct buf *buf, void (*each)(struct buf *, const struct operation *,
                                                        const struct completion_flag *)) {
    const struct operation *command;
    char path[COMMAND_PATH_BYTES];
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command_input(command, 0) == NULL && command->options == 0)
            continue;
        const char *second = second_word(command, path);
        buf_printf(buf, "        '%s'", path);
        if (*second == '\0')
            buf_printf(buf, "|'%s '*", path);
        if (strcmp(second, "list") == 0)
            buf_printf(buf, "|'%.*s'", noun_len(command), path);
        buf_append_cstr(buf, ") flags+=(");
        completion_flags(buf, command, each);
        buf_append_cstr(buf, ") ;;\n");
    }
}

void completion_bash(struct buf *buf) {
    buf_append_cstr(buf, "# bash completion for pawl, made by: pawl help completion bash\n"
                         "_pawl() {\n"
                         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                         "    local first= second= word i\n"
                         "    local -a flags=() choices=()\n"
                         "    COMPREPLY=()\n"
                         "    # --flag=value arrives as three words\n"
                         "    if [[ $current == = ]]; then\n"
                         "        current=\n"
                         "    elif [[ $before == = ]]; then\n"
                         "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                         "    fi\n"
                         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "        word=${COMP_WORDS[i]}\n"
                         "        case $word in\n"
                         "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ")\n"
                         "            ((i++))\n"
                         "            [[ ${COMP_WORDS[i]} != = ]] || ((i++))\n"
                         "            ;;\n"
                         "        -*) ;;\n"
                         "        *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then "
                         "second=$word; fi ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    case \"$first${second:+ $second} $before\" in\n");
    values(buf, bash_value);
    buf_append_cstr(buf, "    esac\n"
                         "    case $before in\n"
                         "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ") return ;;\n"
                         "    esac\n"
                         "    if [[ $current == -* ]]; then\n"
                         "        case \"$first${second:+ $second}\" in\n");
    command_flags(buf, bash_name);
    buf_append_cstr(buf, "        esac\n        flags+=(");
    completion_flags(buf, NULL, bash_name);
    buf_append_cstr(buf, ")\n        mapfile -t COMPREPLY < <(compgen -W \"${flags[*]}\" -- \"$current\")\n"
                         "        return\n"
                         "    fi\n"
                         "    if [[ -z $first || ($first == help && -z $second) ]]; then\n"
                         "        choices=(");
    for (size_t i = 0; command_at(i) != NULL; i++)
        if (completion_first(i))
            buf_printf(buf, " %.*s", noun_len(command_at(i)), command_at(i)->name);
    buf_append_cstr(buf, ")\n"
                         "        [[ $first != help ]] || choices+=(" COMPLETION_TOPICS ")\n"
                         "    elif [[ $first == help && $second == completion ]]; then\n"
                         "        choices=(bash zsh fish)\n"
                         "    elif [[ -z $second || $first == help ]]; then\n"
                         "        [[ $first != help ]] || first=$second\n"
                         "        case $first in\n");
    groups(buf, bash_second);
    buf_append_cstr(buf, "        esac\n"
                         "    fi\n"
                         "    mapfile -t COMPREPLY < <(compgen -W \"${choices[*]}\" -- \"$current\")\n"
                         "}\n"
                         "complete -o default -F _pawl pawl\n");
}

/* ---- zsh ---- */

/* Text inside single quotes; sh and zsh end and reopen them around a quote. */
static void quoted(struct buf *buf, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            buf_append_cstr(buf, "'\\''");
        else
            buf_append_char(buf, *text);
    }
}

static void zsh_flag(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    (void)command;
    buf_printf(buf, "\n            '%s:", flag->name);
    quoted(buf, flag->help);
    buf_append_char(buf, '\'');
}

static void zsh_value(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    if (!value_head(buf, command, flag))
        return;
    if (flag->file) {
        buf_append_cstr(buf, ") _files; return ;;\n");
        return;
    }
    buf_append_cstr(buf, ") compadd -- ");
    completion_choices(buf, flag->choices);
    buf_append_cstr(buf, "; return ;;\n");
}

static void zsh_second(struct buf *buf, const struct operation *command) {
    char path[COMMAND_PATH_BYTES];
    buf_printf(buf, "\n            '%s:", second_word(command, path));
    quoted(buf, command->summary);
    buf_append_char(buf, '\'');
}

static void zsh_firsts(struct buf *buf) {
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (!completion_first(i))
            continue;
        buf_printf(buf, "\n            '%.*s:", noun_len(command), command->name);
        quoted(buf, command->summary);
        buf_append_char(buf, '\'');
    }
}

void completion_zsh(struct buf *buf) {
    buf_append_cstr(buf, "#compdef pawl\n# zsh completion for pawl, made by: pawl help completion zsh\n"
                         "_pawl() {\n"
                         "    local first= second= word\n"
                         "    local -i i\n"
                         "    local -a flags choices\n"
                         "    for ((i = 2; i < CURRENT; i++)); do\n"
                         "        word=${words[i]}\n"
                         "        case $word in\n"
                         "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ") ((i++)) ;;\n"
                         "        -*) ;;\n"
                         "        *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then "
                         "second=$word; fi ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    case \"$first${second:+ $second} ${words[CURRENT - 1]}\" in\n");
    values(buf, zsh_value);
    buf_append_cstr(buf, "    esac\n"
                         "    case ${words[CURRENT - 1]} in\n"
                         "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ") _message value; return ;;\n"
                         "    esac\n"
                         "    if [[ ${words[CURRENT]} == -* ]]; then\n"
                         "        case \"$first${second:+ $second}\" in\n");
    command_flags(buf, zsh_flag);
    buf_append_cstr(buf, "        esac\n        flags+=(");
    completion_flags(buf, NULL, zsh_flag);
    buf_append_cstr(buf, ")\n        _describe -o option flags\n"
                         "        return\n"
                         "    fi\n"
                         "    if [[ -z $first || ($first == help && -z $second) ]]; then\n"
                         "        choices=(");
    zsh_firsts(buf);
    buf_append_cstr(buf, ")\n"
                         "        [[ $first != help ]] || choices+=(" COMPLETION_TOPICS ")\n"
                         "    elif [[ $first == help && $second == completion ]]; then\n"
                         "        choices=(bash zsh fish)\n"
                         "    elif [[ -z $second || $first == help ]]; then\n"
                         "        [[ $first != help ]] || first=$second\n"
                         "        case $first in\n");
    groups(buf, zsh_second);
    buf_append_cstr(buf,
                    "        esac\n"
                    "    fi\n"
                    "    if ((${#choices})); then _describe word choices; else _files; fi\n"
                    "}\n"
                    "if [[ ${funcstack[1]} == _pawl ]]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n");
}

/* ---- fish ---- */

/* Text inside single quotes as fish reads it. */
static void fish_quoted(struct buf *buf, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            buf_append_char(buf, '\\');
        buf_append_char(buf, *text);
    }
}

static void fish_flag(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    buf_append_cstr(buf, "complete -c pawl");
    char path[COMMAND_PATH_BYTES];
    if (command != NULL && strcmp(second_word(command, path), "list") == 0)
        buf_printf(buf, " -n '__pawl_is \"%s\"; or __pawl_is_only %.*s'", path, noun_len(command), path);
    else if (command != NULL)
        buf_printf(buf, " -n '__pawl_is \"%s\"'", command_path(command, path));
    buf_printf(buf, " -l %s", flag->name + 2);
    if (flag->letter != 0)
        buf_printf(buf, " -s %c", flag->letter);
    if (flag->value)
        buf_append_cstr(buf, flag->file ? " -r -F" : " -x");
    if (flag->choices != NULL) {
        buf_append_cstr(buf, " -a '");
        completion_choices(buf, flag->choices);
        buf_append_char(buf, '\'');
    }
    buf_append_cstr(buf, " -d '");
    fish_quoted(buf, flag->help);
    buf_append_cstr(buf, "'\n");
}

static void fish_value(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    (void)command;
    if (!flag->value)
        return;
    buf_printf(buf, " %s", flag->name);
    if (flag->letter != 0)
        buf_printf(buf, " -%c", flag->letter);
}

static void fish_word(struct buf *buf, const char *condition, pawl_str word, const char *summary) {
    buf_printf(buf, "complete -c pawl -f -n '%s' -a %.*s -d '", condition, (int)word.len, word.ptr);
    fish_quoted(buf, summary);
    buf_append_cstr(buf, "'\n");
}

static void fish_words(struct buf *buf) {
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        char path[COMMAND_PATH_BYTES];
        const char *word = second_word(command, path);
        size_t len = (size_t)noun_len(command);
        if (completion_first(i)) {
            fish_word(buf, "test (__pawl_words | count) -eq 0", (pawl_str){path, len}, command->summary);
            fish_word(buf, "__pawl_is_only help", (pawl_str){path, len}, command->summary);
        }
        if (*word == '\0')
            continue;
        AUTO_BUF(condition, 0);
        buf_printf(&condition, "__pawl_is_only %.*s \"help %.*s\"", (int)len, path, (int)len, path);
        fish_word(buf, condition.ptr, (pawl_str){word, strlen(word)}, command->summary);
    }
}

void completion_fish(struct buf *buf) {
    buf_append_cstr(buf, "# fish completion for pawl, made by: pawl help completion fish\n"
                         "function __pawl_words\n"
                         "    set -l skip 0\n"
                         "    for word in (commandline -opc)[2..-1]\n"
                         "        if test $skip -eq 1\n"
                         "            set skip 0\n"
                         "        else if contains -- $word");
    completion_all(buf, fish_value);
    buf_append_cstr(buf,
                    "\n"
                    "            set skip 1\n"
                    "        else if not string match -q -- '-*' $word\n"
                    "            echo $word\n"
                    "        end\n"
                    "    end\n"
                    "end\n"
                    "# Whether the words begin with one of the paths.\n"
                    "function __pawl_is\n"
                    "    set -l line (string join ' ' (__pawl_words))\n"
                    "    for path in $argv\n"
                    "        if test \"$line\" = \"$path\"; or string match -q -- \"$path *\" \"$line\"\n"
                    "            return 0\n"
                    "        end\n"
                    "    end\n"
                    "    return 1\n"
                    "end\n"
                    "# Whether the words are exactly one of the paths.\n"
                    "function __pawl_is_only\n"
                    "    contains -- (string join ' ' (__pawl_words)) $argv\n"
                    "end\n");
    fish_words(buf);
    buf_append_cstr(buf, "complete -c pawl -f -n '__pawl_is_only help' -a '" COMPLETION_TOPICS "'\n"
                         "complete -c pawl -f -n '__pawl_is_only \"help completion\"' -a 'bash zsh fish'\n");
    completion_flags(buf, NULL, fish_flag);
    for (size_t i = 0; command_at(i) != NULL; i++)
        completion_flags(buf, command_at(i), fish_flag);
}
