/* Find: what a word may name, from what an index or a short list serves: ids and their beginnings, names,
 * and the errors of dead letters. */
#include <inttypes.h>
#include <strings.h>

#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "operations/why/kinds.h"
#include "view/names.h"
#include "work/doctor/fleet_facts.h"

enum {
    FIND_EACH_MAX = 10, /* of each kind */
    FIND_GROUPS = 100,  /* groups of dead letters whose errors are read */
    FIND_ID_MIN = 4,    /* characters from which a word may be the beginning of an id */
    FIND_WORD_MAX = PAWL_STREAM_BYTES_MAX
};

static const struct column columns[] = {{COLUMN(TEXT, "kind")},
                                        {COLUMN(TEXT, "id")},
                                        {COLUMN(TEXT, "name"), .cut = true},
                                        {COLUMN(TEXT, "detail"), .cut = true}};

static void found(struct request *request, const char *kind, struct cell id, struct cell name,
                  struct cell detail) {
    request_row(request, (struct cell[]){cell_cstr(kind), id, name, detail});
}

static struct cell id_cell(struct request *request, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    return cell_text(str_from(arena_strdup(request->arena, uuid_format(id, text))));
}

/* Whether text has word in it, in any case of ASCII letters. */
static bool contains(pawl_str text, pawl_str word) {
    for (size_t at = 0; at + word.len <= text.len; at++)
        if (strncasecmp(text.ptr + at, word.ptr, word.len) == 0)
            return true;
    return false;
}

static pawl_status find_messages(struct request *request, pawl_str word, pawl_error *err) {
    const struct store_view_ops *view = &request->store->ops->view;
    struct uuid_list ids = {.count = 0};
    pawl_uuid low, high;
    if (word.len < FIND_ID_MIN || !uuid_range(word, &low, &high))
        return PAWL_OK;
    pawl_status status =
        view->message_ids(request->store, low, high, FIND_EACH_MAX, request->arena, &ids, err);
    for (size_t i = 0; status == PAWL_OK && i < ids.count; i++) {
        struct message_rows rows = {.count = 0};
        status = view->message_find(request->store, ids.ids[i], request->arena, &rows, err);
        if (status != PAWL_OK || rows.count == 0)
            continue;
        const struct item *item = &rows.rows[0].item;
        found(request, "message", id_cell(request, item->id), id_cell(request, item->id),
              cell_text(str_from(arena_printf(request->arena, "%.*s, %s", STR_ARG(item->type),
                                              state_names[rows.rows[0].state]))));
    }
    return status;
}

static pawl_status find_instances(struct request *request, pawl_str word, pawl_error *err) {
    struct instance_rows rows = {.count = 0};
    pawl_uuid low = uuid_nil(), high = uuid_nil();
    bool id = word.len >= FIND_ID_MIN && uuid_range(word, &low, &high);
    pawl_status status = request->store->ops->view.instances(request->store, request->arena, &rows, err);
    for (size_t i = 0, shown = 0; status == PAWL_OK && i < rows.count && shown < FIND_EACH_MAX; i++) {
        const struct instance_row *row = &rows.rows[i];
        bool named = id && uuid_compare(row->id, low) >= 0 && uuid_compare(row->id, high) <= 0;
        if (!named && !contains(row->host, word) && !contains(row->service, word))
            continue;
        shown++;
        found(request, "instance", id_cell(request, row->id), id_cell(request, row->id),
              cell_text(str_from(arena_printf(request->arena, "%.*s on %.*s, process %d",
                                              STR_ARG(row->service), STR_ARG(row->host), row->pid))));
    }
    return status;
}

/* A job's number is whole; so is a run's, or its key. */
static pawl_status find_numbers(struct request *request, pawl_str word, pawl_error *err) {
    struct runs_filter run = {.key = word, .limit = 1};
    struct run_list runs = {.count = 0};
    struct job_rows jobs = {.count = 0};
    struct task_run_list executions = {.count = 0};
    int64_t number = 0;
    pawl_status status = PAWL_OK;
    if (str_to_i64(word, 1, INT64_MAX, &number)) {
        struct job_filter job = {.id = number, .limit = 1};
        struct run_filter ended = {.job_id = number, .limit = 1};
        run = (struct runs_filter){.id = number, .limit = 1};
        status = request->store->ops->jobs->jobs(request->store, &job, request->arena, &jobs, err);
        if (status == PAWL_OK && jobs.count == 0)
            status =
                request->store->ops->jobs->runs(request->store, &ended, request->arena, &executions, err);
    }
    if (status == PAWL_OK)
        status = request->store->ops->runs->runs(request->store, &run, request->arena, &runs, err);
    if (status == PAWL_OK && jobs.count > 0)
        found(request, "job", cell_text(word), cell_text(word), cell_text(jobs.rows[0].job.type));
    if (status == PAWL_OK && executions.count > 0)
        found(request, "job", cell_text(word), cell_text(word), cell_text(executions.runs[0].type));
    if (status == PAWL_OK && runs.count > 0)
        found(request, "run", cell_text(str_from(arena_printf(request->arena, "%" PRId64, runs.runs[0].id))),
              cell_text(runs.runs[0].name), cell_text(runs.runs[0].key));
    return status;
}

/* Names come in order: those that begin with the word follow it. */
static pawl_status find_tasks(struct request *request, pawl_str word, pawl_error *err) {
    const struct store_jobs_ops *jobs = request->store->ops->jobs;
    const pawl_str none = {NULL, 0};
    struct task_list exact = {.count = 0}, after = {.count = 0};
    struct job_schedule_list one = {.count = 0}, more = {.count = 0};
    struct schedule_filter named = {.name = word, .limit = 1};
    struct schedule_filter next = {.after_name = word, .limit = FIND_EACH_MAX};
    pawl_status status = jobs->tasks(request->store, word, none, 1, request->arena, &exact, err);
    if (status == PAWL_OK)
        status = jobs->tasks(request->store, none, word, FIND_EACH_MAX, request->arena, &after, err);
    if (status == PAWL_OK)
        status = jobs->schedules(request->store, &named, request->arena, &one, err);
    if (status == PAWL_OK)
        status = jobs->schedules(request->store, &next, request->arena, &more, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < exact.count + after.count; i++) {
        pawl_str name = i < exact.count ? exact.tasks[i].name : after.tasks[i - exact.count].name;
        if (str_starts_with(name, word))
            found(request, "task", cell_text(name), cell_text(name), cell_none());
    }
    for (size_t i = 0; i < one.count + more.count; i++) {
        const struct job_schedule *row = i < one.count ? &one.schedules[i] : &more.schedules[i - one.count];
        if (str_starts_with(row->name, word))
            found(request, "schedule", cell_text(row->name), cell_text(row->name), cell_text(row->task));
    }
    return PAWL_OK;
}

static pawl_status find_perspectives(struct request *request, pawl_str word, pawl_error *err) {
    struct perspective_rows rows = {.count = 0};
    pawl_status status = fleet_perspectives(request->store, (pawl_str){NULL, 0}, request->arena, &rows, err);
    for (size_t i = 0, shown = 0; status == PAWL_OK && i < rows.count && shown < FIND_EACH_MAX; i++) {
        pawl_str key = rows.rows[i].key;
        if (!contains(key, word))
            continue;
        shown++;
        found(request, "perspective", cell_text(key), cell_text(key), cell_none());
    }
    return status;
}

/* A stream is one that has events, or messages that wait among the first of its lane. */
static pawl_status find_stream(struct request *request, pawl_str word, pawl_error *err) {
    pawl_read query = {.stream = word, .backward = true, .limit = 1};
    struct event_list head = {.head = 0};
    struct message_filter filter = {.stream = word, .lane = -1, .limit = 1};
    struct message_rows rows = {.count = 0};
    pawl_status status =
        request->store->ops->events.events_read(request->store, &query, request->arena, &head, err);
    if (status == PAWL_OK)
        status = request->store->ops->view.messages(request->store, &filter, request->arena, &rows, err);
    if (status == PAWL_OK && (head.head > 0 || rows.count > 0))
        found(request, "stream", cell_text(word), cell_text(word),
              cell_cstr(rows.count > 0 ? "has messages that wait" : "has events"));
    return status;
}

static struct cell many(struct request *request, int64_t count) {
    return cell_text(str_from(arena_printf(request->arena, "%" PRId64, count)));
}

/* Errors are contents: who may not see those finds none. */
static pawl_status find_errors(struct request *request, pawl_str word, pawl_error *err) {
    struct dead_groups groups;
    struct job_dead_groups dead = {.count = 0};
    pawl_status status = PAWL_OK;
    if (!request->front->sees_content(request->self))
        return PAWL_OK;
    for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++) {
        groups = (struct dead_groups){.count = 0};
        status = request->store->ops->view.dead_groups(request->store, (enum store_kind)kind, FIND_GROUPS,
                                                       request->arena, &groups, err);
        for (size_t i = 0; status == PAWL_OK && i < groups.count; i++)
            if (contains(groups.groups[i].sample_error, word))
                found(request, "dead letters", cell_text(groups.groups[i].fingerprint),
                      cell_text(groups.groups[i].sample_error), many(request, groups.groups[i].count));
    }
    if (status == PAWL_OK)
        status =
            request->store->ops->jobs->dead_groups(request->store, FIND_GROUPS, request->arena, &dead, err);
    for (size_t i = 0; status == PAWL_OK && i < dead.count; i++)
        if (contains(dead.groups[i].sample_error, word))
            found(request, "dead jobs", cell_text(dead.groups[i].fingerprint),
                  cell_text(dead.groups[i].sample_error), many(request, dead.groups[i].count));
    return status;
}

static pawl_status find(struct request *request, pawl_error *err) {
    static pawl_status (*const finders[])(struct request * request, pawl_str word, pawl_error * err) = {
        find_numbers, find_messages, find_stream, find_tasks, find_perspectives, find_instances, find_errors};
    pawl_str word = str_trim(request_text(request, "word"));
    pawl_status status = PAWL_OK;
    request_list(request, columns, COLUMN_COUNT(columns));
    for (size_t i = 0; status == PAWL_OK && word.len > 0 && i < sizeof finders / sizeof *finders; i++)
        status = finders[i](request, word, err);
    return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
}

static const struct field fields[] = {
    {TEXT_FIELD(IN_QUERY, "word", FIND_WORD_MAX, "What to look for."), .required = true, .word = true}};

static const struct operation operations[] = {
    {OPERATION("find", "Find what a word names: an id or its beginning, a name, an error"), READS("/v1/find"),
     FIELDS(fields), COLUMNS(columns), .run = find,
     .details =
         "Looks where an index or a short list serves it: ids of messages by their beginning (at least four "
         "characters), numbers of jobs and runs, keys of runs, names of streams, the beginnings of names of "
         "tasks and schedules, parts of names of perspectives, hosts and services, and parts of the errors "
         "of the 100 biggest groups of dead letters and dead jobs. Payloads, types and topics have no index: "
         "pawl message list --type looks through the messages.",
     .example = "pawl find 01890a5d\npawl find 'connection refused' -o json", .empty = "nothing"},
};

const struct operation_table find_operations = OPERATION_TABLE(operations);
