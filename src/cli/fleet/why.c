/* pawl why: what anything is waiting for, in one paragraph. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/fleet/why_kinds.h"
#include "view/message.h"
#include "view/why/story.h"
#include "view/why/view.h"

#define WHY_KINDS "message|dead|stream|job|run|perspective|schedule|task|instance"

enum { CANDIDATES_MAX = 8, KINDS_MAX = 8 };

static pawl_status print_json(struct cli *cli, const struct why *why, const struct why_pause *pause,
                              const struct buf texts[static 2], pawl_error *err) {
    struct column columns[WHY_COLUMNS + 1];
    struct cell cells[WHY_COLUMNS + 1];
    struct cell message_values[MESSAGE_COLUMNS];
    struct buf message;
    buf_init(&message, 0);
    message_cells(&why->row, message_values);
    output_cells_json(&message, message_columns, MESSAGE_COLUMNS, message_values);
    memcpy(columns, why_view_columns, sizeof why_view_columns);
    columns[WHY_COLUMNS] = (struct column){COLUMN(JSON, "message")};
    why_cells(why, pause, texts, cells);
    cells[WHY_COLUMNS] = cell_text(buf_str(&message));
    pawl_status status = buf_status(&message, "why", err);
    if (status == PAWL_OK)
        status = output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
    buf_free(&message);
    return status;
}

static pawl_status tell_message(struct cli *cli, pawl_uuid id, pawl_error *err) {
    struct why why;
    struct why_pause pause;
    pawl_status status = why_read(cli->store, id, cli->arena, &why, &pause, err);
    if (status != PAWL_OK)
        return status;
    struct buf texts[2]; /* what holds, what to do */
    buf_init(&texts[0], 0);
    buf_init(&texts[1], 0);
    why_story(&why, &pause, &texts[0], &texts[1]);
    status = buf_status(&texts[0], "why", err);
    if (status == PAWL_OK)
        status = buf_status(&texts[1], "why", err);
    if (status == PAWL_OK && output_is_json(&cli->output))
        status = print_json(cli, &why, &pause, texts, err);
    else if (status == PAWL_OK)
        output_say(&cli->output, "%s\nWhat to do: %s", texts[0].ptr, texts[1].ptr);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return status;
}

/* The message whose id the word is or begins; *found false when there is none. */
static pawl_status find_message(struct cli *cli, pawl_str word, pawl_uuid *id, bool *found, pawl_error *err) {
    struct uuid_list ids = {.count = 0};
    struct message_rows rows = {.count = 0};
    pawl_uuid low, high;
    *found = false;
    if (uuid_parse(word, id)) {
        pawl_status status = cli->store->ops->view.message_find(cli->store, *id, cli->arena, &rows, err);
        *found = status == PAWL_OK && rows.count > 0;
        return status;
    }
    if (!uuid_range(word, &low, &high))
        return PAWL_OK;
    pawl_status status =
        cli->store->ops->view.message_ids(cli->store, low, high, CANDIDATES_MAX + 1, cli->arena, &ids, err);
    if (status != PAWL_OK || ids.count == 0)
        return status;
    if (ids.count > 1) {
        struct buf list;
        char text[UUID_TEXT_BYTES];
        buf_init(&list, 0);
        for (size_t i = 0; i < ids.count && i < CANDIDATES_MAX; i++)
            buf_printf(&list, "%s%s", i > 0 ? ", " : "", uuid_format(ids.ids[i], text));
        if (ids.count > CANDIDATES_MAX)
            buf_append_cstr(&list, ", …");
        cli->hint = "Write more of the id, or all of it.";
        status = error_set(err, PAWL_CONFLICT, "why", "more than one message begins with %.*s: %s",
                           STR_ARG(word), list.failed ? "" : list.ptr);
        buf_free(&list);
        return status;
    }
    *id = ids.ids[0];
    *found = true;
    return PAWL_OK;
}

static pawl_status print_told(struct cli *cli, const char *kind, const struct why_told *told,
                              pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "kind")}, {COLUMN(TEXT, "id")}, {COLUMN(TEXT, "explanation")}, {COLUMN(TEXT, "next")}};
    pawl_status status = buf_status(&told->text, "why", err);
    if (status == PAWL_OK)
        status = buf_status(&told->next, "why", err);
    struct cell cells[] = {cell_cstr(kind), cell_text(told->id), cell_text(buf_str(&told->text)),
                           cell_text(buf_str(&told->next))};
    if (status == PAWL_OK && output_is_json(&cli->output))
        return output_record(&cli->output, columns, 4, cells, err);
    if (status == PAWL_OK)
        output_say(&cli->output, "%s\nWhat to do: %s", told->text.ptr, told->next.ptr);
    return status;
}

/* Everything that has this name, message or not. */
struct answers {
    struct why_told told[KINDS_MAX];
    const char *kinds[KINDS_MAX];
    size_t count;
    bool message, cut; /* cut: a stream may have this name all the same */
    pawl_uuid id;
};

static pawl_status ask(struct cli *cli, const char *kind, pawl_str word, struct answers *answers,
                       pawl_error *err) {
    pawl_status status = PAWL_OK;
    int64_t number;
    bool any = kind == NULL, numbered = str_to_i64(word, 0, INT64_MAX, &number);
    /* A number is one of a job or a run; as the beginning of an id it would be any. */
    if ((any && !numbered) || (!any && (strcmp(kind, "message") == 0 || strcmp(kind, "dead") == 0)))
        status = find_message(cli, word, &answers->id, &answers->message, err);
    /* A whole id is that message's, also when a stream has its name. */
    pawl_uuid whole;
    if (any && answers->message && uuid_parse(word, &whole))
        return status;
    for (size_t i = 0; status == PAWL_OK && i < why_kinds_count; i++) {
        struct why_told *told = &answers->told[answers->count];
        if (any ? (numbered && strcmp(why_kinds[i].name, "instance") == 0)
                : strcmp(kind, why_kinds[i].name) != 0)
            continue;
        *told = (struct why_told){.id = word, .thorough = !any};
        buf_init(&told->text, 0);
        buf_init(&told->next, 0);
        answers->kinds[answers->count++] = why_kinds[i].name;
        status = why_kinds[i].tell(cli, word, told, err);
        answers->cut = answers->cut || told->cut;
        if (status == PAWL_OK && !told->found) {
            buf_free(&told->text);
            buf_free(&told->next);
            answers->count--;
        }
    }
    return status;
}

static pawl_status nothing_found(struct cli *cli, const char *kind, const char *word, bool cut,
                                 pawl_error *err) {
    if (kind == NULL && cut)
        cli->hint = arena_printf(cli->arena,
                                 "Of the messages that wait only the first of its lane were looked at: "
                                 "pawl why stream %s looks at all.",
                                 word);
    else if (kind == NULL)
        cli->hint =
            "A message may be done and no longer kept: see pawl settings show for how long the history is. A "
            "job that is done is gone: pawl audit list has its executions.";
    else if (strcmp(kind, "message") == 0 || strcmp(kind, "dead") == 0)
        cli->hint =
            "A message may be done and no longer kept: see pawl settings show for how long the history is.";
    else if (strcmp(kind, "job") == 0)
        cli->hint = "A job that is done is gone: pawl audit list has its executions.";
    if (kind != NULL)
        return error_set(err, PAWL_NOT_FOUND, "why", "there is no %s %s",
                         strcmp(kind, "dead") == 0 ? "dead letter" : kind, word);
    return error_set(
        err, PAWL_NOT_FOUND, "why",
        "there is no message with id %s, and no job, run, stream, perspective, schedule, task or "
        "instance of that name",
        word);
}

static pawl_status choose(struct cli *cli, const char *word, const struct answers *answers, pawl_error *err) {
    size_t found = answers->count + answers->message;
    if (found == 1)
        return answers->message ? tell_message(cli, answers->id, err)
                                : print_told(cli, answers->kinds[0], &answers->told[0], err);
    struct buf list;
    buf_init(&list, 0);
    buf_append_cstr(&list, answers->message ? "message" : "");
    for (size_t i = 0; i < answers->count; i++)
        buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", answers->kinds[i]);
    cli->hint = arena_printf(cli->arena, "Put the kind before it, as in pawl why %s %s.",
                             answers->message ? "message" : answers->kinds[0], word);
    pawl_status status = error_set(err, PAWL_CONFLICT, "why", "\"%s\" names more than one thing: %s", word,
                                   list.failed ? "" : list.ptr);
    buf_free(&list);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    bool named = cli->arguments.word_count > 1;
    const char *word = cli->arguments.words[named ? 1 : 0];
    struct answers answers = {.count = 0};
    const char *kind = named ? cli->arguments.words[0] : NULL;
    pawl_status status = ask(cli, kind, str_from(word), &answers, err);
    if (status == PAWL_OK && answers.count == 0 && !answers.message)
        status = nothing_found(cli, kind, word, answers.cut, err);
    else if (status == PAWL_OK)
        status = choose(cli, word, &answers, err);
    for (size_t i = 0; i < answers.count; i++) {
        buf_free(&answers.told[i].text);
        buf_free(&answers.told[i].next);
    }
    return status;
}

static pawl_status check(struct cli *cli, pawl_error *err) {
    const char *kind = cli->arguments.words[0];
    if (cli->arguments.word_count < 2 || str_choice(WHY_KINDS, str_from(kind)) >= 0)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "why", "\"%s\" is not a kind: use %s", kind, WHY_KINDS);
}

static const struct command commands[] = {
    {COMMAND("why", "Explain what something is waiting for, and what to do"), .arguments = "[KIND] ID",
     .check = check,
     .details =
         "ID is the id of a message or an instance, or its beginning; the number of a job; the number or key "
         "of a run; or the name of a stream, a perspective, a schedule or a task. KIND (message, dead, "
         "stream, job, run, perspective, schedule, task, instance) is needed when ID matches more than one; "
         "a whole message id always means that message. A stream without KIND is looked for among the first "
         "10,000 messages of its lane, with KIND among all. Shows the state and its cause: which worker runs "
         "it and until when, what is ahead of it and why that waits, when the next attempt is, or that no "
         "worker serves it. A page of a run is a job. The JSON has the same facts.",
     .example = "pawl why 01890a5d-ac96-774b-bcce-b302099a8057\npawl why job 17\npawl why stream order-1",
     .run = run},
};

const struct command_table why_commands = COMMAND_TABLE(commands);
