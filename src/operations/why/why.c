/* Why: what anything is waiting for, in one paragraph. */
#include "operations/why/why.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "operations/why/kinds.h"
#include "view/message.h"
#include "view/why/story.h"
#include "view/why/view.h"

#define WHY_KINDS "message|dead|stream|job|run|perspective|schedule|task|instance"

enum { CANDIDATES_MAX = 8, KINDS_MAX = 8 };

/* With the message itself, for programs that run commands. */
static pawl_status message_record(struct request *request, const struct why *why, const struct cell *cells,
                                  pawl_error *err) {
    struct column columns[WHY_COLUMNS + 1];
    struct cell shown[WHY_COLUMNS + 1], values[MESSAGE_COLUMNS];
    AUTO_BUF(message, 0);
    message_cells(&why->row, values);
    output_cells_json(&message, message_columns, MESSAGE_COLUMNS, values);
    memcpy(columns, why_view_columns, sizeof why_view_columns);
    memcpy(shown, cells, WHY_COLUMNS * sizeof *cells);
    columns[WHY_COLUMNS] = (struct column){COLUMN(JSON, "message")};
    shown[WHY_COLUMNS] = cell_text(buf_str(&message));
    TRY(buf_status(&message, "why", err));
    return request_record(request, columns, WHY_COLUMNS + 1, shown, err);
}

static void say_story(struct request *request, const struct buf *text, const struct buf *next) {
    request_say(request, arena_printf(request->arena, "%s\nWhat to do: %s", text->ptr, next->ptr));
}

pawl_status why_message(struct request *request, pawl_uuid id, pawl_error *err) {
    struct why why;
    struct why_pause pause;
    struct buf texts[2]; /* what holds, what to do */
    struct cell cells[WHY_COLUMNS];
    pawl_status status = why_read(request->store, id, request->arena, &why, &pause, err);
    if (status != PAWL_OK)
        return status;
    if (!request->front->sees_content(request->self))
        why.row.error = (pawl_str){NULL, 0};
    buf_init(&texts[0], 0);
    buf_init(&texts[1], 0);
    why_story(&why, &pause, &texts[0], &texts[1]);
    status = buf_status(&texts[0], "why", err);
    if (status == PAWL_OK)
        status = buf_status(&texts[1], "why", err);
    why_cells(&why, &pause, texts, cells);
    if (status == PAWL_OK && !request_is_command(request))
        status = request_record(request, why_view_columns, WHY_COLUMNS, cells, err);
    else if (status == PAWL_OK && request_for_program(request))
        status = message_record(request, &why, cells, err);
    else if (status == PAWL_OK)
        say_story(request, &texts[0], &texts[1]);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return status;
}

/* The message whose id the word is or begins; *found false when there is none. */
static pawl_status find_message(struct request *request, pawl_str word, pawl_uuid *id, bool *found,
                                pawl_error *err) {
    struct uuid_list ids = {.count = 0};
    struct message_rows rows = {.count = 0};
    pawl_uuid low, high;
    *found = false;
    if (uuid_parse(word, id)) {
        pawl_status status =
            request->store->ops->view.message_find(request->store, *id, request->arena, &rows, err);
        *found = status == PAWL_OK && rows.count > 0;
        return status;
    }
    if (!uuid_range(word, &low, &high))
        return PAWL_OK;
    pawl_status status = request->store->ops->view.message_ids(request->store, low, high, CANDIDATES_MAX + 1,
                                                               request->arena, &ids, err);
    if (status != PAWL_OK || ids.count == 0)
        return status;
    if (ids.count > 1) {
        char text[UUID_TEXT_BYTES];
        AUTO_BUF(list, 0);
        for (size_t i = 0; i < ids.count && i < CANDIDATES_MAX; i++)
            buf_printf(&list, "%s%s", i > 0 ? ", " : "", uuid_format(ids.ids[i], text));
        if (ids.count > CANDIDATES_MAX)
            buf_append_cstr(&list, ", …");
        request_hint(request, "Write more of the id, or all of it.");
        status = error_set(err, PAWL_CONFLICT, "why", "more than one message begins with %.*s: %s",
                           STR_ARG(word), list.failed ? "" : list.ptr);
        return status;
    }
    *id = ids.ids[0];
    *found = true;
    return PAWL_OK;
}

static pawl_status print_told(struct request *request, const char *kind, const struct why_told *told,
                              pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "kind")}, {COLUMN(TEXT, "id")}, {COLUMN(TEXT, "explanation")}, {COLUMN(TEXT, "next")}};
    TRY(buf_status(&told->text, "why", err));
    TRY(buf_status(&told->next, "why", err));
    struct cell cells[] = {cell_cstr(kind), cell_text(told->id), cell_text(buf_str(&told->text)),
                           cell_text(buf_str(&told->next))};
    if (request_for_program(request))
        return request_record(request, columns, COLUMN_COUNT(columns), cells, err);
    say_story(request, &told->text, &told->next);
    return PAWL_OK;
}

/* Everything that has this name, message or not. */
struct answers {
    struct why_told told[KINDS_MAX];
    const char *kinds[KINDS_MAX];
    size_t count;
    bool message, cut; /* cut: a stream may have this name all the same */
    pawl_uuid id;
};

static pawl_status ask(struct request *request, const char *kind, pawl_str word, struct answers *answers,
                       pawl_error *err) {
    int64_t number, now_ms = 0;
    pawl_status status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    bool any = kind == NULL, numbered = str_to_i64(word, 0, INT64_MAX, &number);
    /* A number is one of a job or a run; as the beginning of an id it would be any. */
    if (status == PAWL_OK &&
        ((any && !numbered) || (!any && (strcmp(kind, "message") == 0 || strcmp(kind, "dead") == 0))))
        status = find_message(request, word, &answers->id, &answers->message, err);
    /* A whole id is that message's, also when a stream has its name. */
    pawl_uuid whole;
    if (any && answers->message && uuid_parse(word, &whole))
        return status;
    for (size_t i = 0; status == PAWL_OK && i < why_kinds_count; i++) {
        struct why_told *told = &answers->told[answers->count];
        if (any ? (numbered && strcmp(why_kinds[i].name, "instance") == 0)
                : strcmp(kind, why_kinds[i].name) != 0)
            continue;
        *told = (struct why_told){.id = word, .thorough = !any, .now_ms = now_ms};
        buf_init(&told->text, 0);
        buf_init(&told->next, 0);
        answers->kinds[answers->count++] = why_kinds[i].name;
        status = why_kinds[i].tell(request, word, told, err);
        answers->cut = answers->cut || told->cut;
        if (status == PAWL_OK && !told->found) {
            buf_free(&told->text);
            buf_free(&told->next);
            answers->count--;
        }
    }
    return status;
}

static pawl_status nothing_found(struct request *request, const char *kind, const char *word, bool cut,
                                 pawl_error *err) {
    static const char message[] =
        "A message may be done and no longer kept: see pawl setting list for how long the history is.";
    static const char job[] = "A job that is done is gone: pawl audit list has its executions.";
    const char *hint = NULL;
    if (kind == NULL && cut)
        hint = arena_printf(request->arena,
                            "Of the messages that wait only the first of its lane were looked at: "
                            "pawl why stream %s looks at all.",
                            word);
    else if (kind == NULL)
        hint = arena_printf(request->arena, "%s %s", message, job);
    else if (strcmp(kind, "message") == 0 || strcmp(kind, "dead") == 0)
        hint = message;
    else if (strcmp(kind, "job") == 0)
        hint = job;
    request_hint(request, hint);
    if (kind != NULL)
        return error_set(err, PAWL_NOT_FOUND, "why", "there is no %s %s",
                         strcmp(kind, "dead") == 0 ? "dead letter" : kind, word);
    return error_set(
        err, PAWL_NOT_FOUND, "why",
        "there is no message with id %s, and no job, run, stream, perspective, schedule, task or "
        "instance of that name",
        word);
}

static pawl_status choose(struct request *request, const char *word, const struct answers *answers,
                          pawl_error *err) {
    size_t found = answers->count + answers->message;
    if (found == 1)
        return answers->message ? why_message(request, answers->id, err)
                                : print_told(request, answers->kinds[0], &answers->told[0], err);
    AUTO_BUF(list, 0);
    buf_append_cstr(&list, answers->message ? "message" : "");
    for (size_t i = 0; i < answers->count; i++)
        buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", answers->kinds[i]);
    request_hint(request, arena_printf(request->arena, "Put the kind before it, as in pawl why %s %s.",
                                       answers->message ? "message" : answers->kinds[0], word));
    return error_set(err, PAWL_CONFLICT, "why", "\"%s\" names more than one thing: %s", word,
                     list.failed ? "" : list.ptr);
}

static pawl_status why(struct request *request, pawl_error *err) {
    struct value given = request_value(request, "kind");
    const char *kind = given.present ? arena_printf(request->arena, "%.*s", STR_ARG(given.text)) : NULL;
    const char *word = arena_printf(request->arena, "%.*s", STR_ARG(request_text(request, "id")));
    struct answers answers = {.count = 0};
    if (word == NULL || (given.present && kind == NULL))
        return error_set(err, PAWL_NO_MEMORY, "why", "no memory for the words");
    pawl_status status = ask(request, kind, str_from(word), &answers, err);
    if (status == PAWL_OK && answers.count == 0 && !answers.message)
        status = nothing_found(request, kind, word, answers.cut, err);
    else if (status == PAWL_OK)
        status = choose(request, word, &answers, err);
    for (size_t i = 0; i < answers.count; i++) {
        buf_free(&answers.told[i].text);
        buf_free(&answers.told[i].next);
    }
    return status;
}

static const struct field fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", WHY_KINDS, "What it is, where the id matches more than one thing."),
     .word = true},
    {TEXT_FIELD(IN_QUERY, "id", PAWL_STREAM_BYTES_MAX, "Its id, number, key or name."), .required = true,
     .word = true}};

static const struct operation operations[] = {
    {OPERATION("why", "Explain what something is waiting for, and what to do"), READS("/v1/why"),
     FIELDS(fields), .shape = ANSWER_OBJECT, .run = why,
     .details =
         "ID is the id of a message or an instance, or its beginning; the number of a job; the number or key "
         "of a run; or the name of a stream, a perspective, a schedule or a task. KIND (message, dead, "
         "stream, job, run, perspective, schedule, task, instance) is needed when ID matches more than one; "
         "a whole message id always means that message. A stream without KIND is looked for among the first "
         "10,000 messages of its lane, with KIND among all. Shows the state and its cause: which worker runs "
         "it and until when, what is ahead of it and why that waits, when the next attempt is, or that no "
         "worker serves it. A page of a run is a job. The JSON has the same facts.",
     .example = "pawl why 01890a5d-ac96-774b-bcce-b302099a8057\npawl why job 17\npawl why stream order-1"},
};

const struct operation_table why_operations = OPERATION_TABLE(operations);
