/* The completion scripts of bash, zsh and fish. */
#include <string.h>

#include "cli/help/completion.h"

/* The first word of a path, and the rest ("" when it is one word). */
static int first_len(const char *path) { return (int)strcspn(path, " "); }

static const char *second_word(const char *path) {
    const char *rest = path + strcspn(path, " ");
    return *rest == ' ' ? rest + 1 : rest;
}

/* Whether command has a second word below the first word of group's path. */
static bool in_group(const struct operation *command, const struct operation *group) {
    int len = first_len(group->command);
    return first_len(command->command) == len &&
           strncmp(command->command, group->command, (size_t)len) == 0 &&
           *second_word(command->command) != '\0';
}

/* The second words of every group as branches of a case: "dead) choices=(list show)". */
static void groups(struct buf *buf, void (*each)(struct buf *buf, const struct operation *command)) {
    const struct operation *group, *command;
    for (size_t i = 0; (group = command_at(i)) != NULL; i++) {
        bool any = false;
        for (size_t k = 0; completion_first(i) && (command = command_at(k)) != NULL; k++) {
            if (!in_group(command, group))
                continue;
            if (!any)
                buf_printf(buf, "        %.*s) choices=(", first_len(group->command), group->command);
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

/* A branch for the value after a flag. */
/* The head of the case that completes a flag's value; false: there is nothing to offer. */
static bool value_head(struct buf *buf, const struct completion_flag *flag) {
    if (!flag->value || (flag->choices == NULL && !flag->file))
        return false;
    buf_printf(buf, "        %s", flag->name);
    if (flag->letter != 0)
        buf_printf(buf, "|-%c", flag->letter);
    return true;
}

static void bash_value(struct buf *buf, const struct operation *command, const struct completion_flag *flag) {
    (void)command;
    if (!value_head(buf, flag))
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
    buf_printf(buf, " %s", second_word(command->command));
}

/* A branch for every path and alias with the flags of its command. */
static void command_flags(struct buf *buf, void (*each)(struct buf *, const struct operation *,
                                                        const struct completion_flag *)) {
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command->flags == 0 && command->options == 0)
            continue;
        buf_printf(buf, "        '%s'", command->command);
        if (*second_word(command->command) == '\0')
            buf_printf(buf, "|'%s '*", command->command);
        if (command->alias != NULL)
            buf_printf(buf, "|'%s'", command->alias);
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
                         "    case $before in\n");
    completion_all(buf, bash_value);
    buf_append_cstr(buf, "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ") return ;;\n"
                         "    esac\n"
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
            buf_printf(buf, " %.*s", first_len(command_at(i)->command), command_at(i)->command);
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
    (void)command;
    if (!value_head(buf, flag))
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
    buf_printf(buf, "\n            '%s:", second_word(command->command));
    quoted(buf, command->summary);
    buf_append_char(buf, '\'');
}

static void zsh_firsts(struct buf *buf) {
    const struct operation *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (!completion_first(i))
            continue;
        buf_printf(buf, "\n            '%.*s:", first_len(command->command), command->command);
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
                         "    case ${words[CURRENT - 1]} in\n");
    completion_all(buf, zsh_value);
    buf_append_cstr(buf, "        --no-such-flag");
    completion_all(buf, takes_value);
    buf_append_cstr(buf, ") _message value; return ;;\n"
                         "    esac\n"
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
    if (command != NULL) {
        buf_printf(buf, " -n '__pawl_is \"%s\"", command->command);
        if (command->alias != NULL)
            buf_printf(buf, " \"%s\"", command->alias);
        buf_append_char(buf, '\'');
    }
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
        const char *path = command->command;
        size_t len = strcspn(path, " ");
        if (completion_first(i)) {
            fish_word(buf, "test (__pawl_words | count) -eq 0", (pawl_str){path, len}, command->summary);
            fish_word(buf, "__pawl_is_only help", (pawl_str){path, len}, command->summary);
        }
        if (path[len] == '\0')
            continue;
        struct buf condition;
        buf_init(&condition, 0);
        buf_printf(&condition, "__pawl_is_only %.*s \"help %.*s\"", (int)len, path, (int)len, path);
        const char *word = path + len + 1;
        fish_word(buf, condition.ptr, (pawl_str){word, strlen(word)}, command->summary);
        buf_free(&condition);
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
