/* pawl why for jobs, runs, streams, perspectives, schedules, tasks and instances. */
#include "operations/why/kinds.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "view/fleet.h"
#include "view/message.h"
#include "view/run.h"
#include "view/why/job.h"
#include "view/why/story.h"
#include "work/doctor/fleet_facts.h"
#include "work/run/page_job.h"
#include "work/run/start.h"

static bool number_of(pawl_str word, int64_t *number) { return str_to_i64(word, 1, INT64_MAX, number); }

/* A page of a run is told as one: a job's number means nothing to who started a run. Says nothing of other
 * jobs, nor when the run is gone. */
static pawl_status tell_page(struct request *request, const struct job *job, struct buf *text,
                             pawl_error *err) {
    struct page_ref ref;
    struct run_list runs = {.count = 0};
    struct partition_list parts = {.count = 0};
    if (!str_equal_cstr(job->type, RUN_PAGE_TYPE) || page_job_ref(job, request->arena, &ref, NULL) != PAWL_OK)
        return PAWL_OK;
    struct runs_filter run = {.id = ref.run, .limit = 1};
    struct partitions_filter part = {
        .run = ref.run, .after_run = ref.run, .after_part = ref.part - 1, .limit = 1};
    pawl_status status = request->store->ops->runs->runs(request->store, &run, request->arena, &runs, err);
    if (status == PAWL_OK && runs.count > 0)
        status = request->store->ops->runs->partitions(request->store, &part, request->arena, &parts, err);
    if (status != PAWL_OK || runs.count == 0)
        return status;
    buf_printf(text, "It is page %" PRId64 " of partition ", ref.page);
    if (parts.count > 0 && parts.partitions[0].part == ref.part)
        why_tell(text, "%.*s", STR_ARG(parts.partitions[0].name));
    else
        buf_printf(text, "%d", ref.part);
    why_tell(text, " of run %" PRId64 " (%.*s%s", ref.run, STR_ARG(runs.runs[0].name),
             runs.runs[0].paused ? "), which is paused. " : "). ");
    return PAWL_OK;
}

static pawl_status tell_job(struct request *request, pawl_str word, struct why_told *told, pawl_error *err) {
    struct job_why why;
    int64_t id;
    if (!number_of(word, &id))
        return PAWL_OK;
    pawl_status status = request->store->ops->jobs->why(request->store, id, request->arena, &why, err);
    if (status != PAWL_OK)
        return status == PAWL_NOT_FOUND ? PAWL_OK : status;
    told->found = true;
    why_tell(&told->text, "Job %" PRId64 " (type %.*s, queue %.*s). ", id, STR_ARG(why.row.job.type),
             STR_ARG(why.row.job.queue));
    status = tell_page(request, &why.row.job, &told->text, err);
    if (!request->front->sees_content(request->self))
        why.row.error = (pawl_str){NULL, 0};
    job_story(&why, &told->text, &told->next);
    return status;
}

static pawl_status tell_run(struct request *request, pawl_str word, struct why_told *told, pawl_error *err) {
    struct runs_filter filter = {.limit = 1};
    struct run_list found = {.count = 0};
    if (!number_of(word, &filter.id))
        filter.key = word;
    pawl_status status =
        request->store->ops->runs->runs(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK || found.count == 0)
        return status;
    const struct run_row *run = &found.runs[0];
    told->found = true;
    why_tell(&told->text,
             "Run %" PRId64 " (%.*s) is %s%s: %d of %d partitions are done, %d failed, %" PRId64 " pages.",
             run->id, STR_ARG(run->name), run_state_name(run->state), run->paused ? " and paused" : "",
             run->done, run->partitions, run->failed, run->pages);
    if (!str_absent(run->error) && request->front->sees_content(request->self)) {
        why_tell(&told->text, " Last error: %.*s", STR_ARG(run->error));
    }
    if (run->paused)
        buf_printf(&told->next, "pawl run resume %" PRId64 ".", run->id);
    else if (run->failed > 0 && (!run_view_ended(run) || run->state == RUN_IS_FAILED))
        buf_printf(&told->next,
                   "pawl run partitions %" PRId64 " shows why; remove the cause, then pawl run retry %" PRId64
                   ", or pawl run reset.",
                   run->id, run->id);
    else if (run->state == RUN_IS_FAILED)
        buf_printf(&told->next, "Remove the cause, then pawl run retry %" PRId64 ".", run->id);
    else if (run_view_ended(run))
        buf_append_cstr(&told->next, "Nothing: it has ended.");
    else if (run->job != 0)
        buf_printf(&told->next, "Its consolidation is a job: pawl why job %" PRId64 ".", run->job);
    else
        buf_printf(&told->next,
                   "Each page is a job: pawl run partitions %" PRId64
                   " names them, pawl why job N explains one.",
                   run->id);
    return PAWL_OK;
}

static pawl_status take_id(void *self, const struct message_row *row, pawl_error *err) {
    (void)err;
    *(pawl_uuid *)self = row->item.id;
    return PAWL_OK;
}

/* The first unfinished message of a stream, nil when there is none. No index knows the streams of messages
 * that wait: to be sure means to read a lane, which a word that may mean anything is not worth. */
static pawl_status stream_first(struct request *request, pawl_str stream, struct why_told *told,
                                pawl_uuid *first, pawl_error *err) {
    struct message_filter filter = {.stream = stream, .lane = -1, .limit = 1};
    struct message_rows rows = {.count = 0};
    if (told->thorough)
        return messages_visit(request->store, filter, 1, take_id, first, err);
    pawl_status status =
        request->store->ops->view.messages(request->store, &filter, request->arena, &rows, err);
    if (status == PAWL_OK && rows.count > 0)
        *first = rows.rows[0].item.id;
    told->cut = status == PAWL_OK && rows.count == 0 && rows.next_seq > 0;
    return status;
}

/* What holds up a stream is its first unfinished message. */
static pawl_status tell_stream(struct request *request, pawl_str word, struct why_told *told,
                               pawl_error *err) {
    pawl_uuid first = {0};
    struct why why;
    struct why_pause pause;
    pawl_status status = stream_first(request, word, told, &first, err);
    if (status != PAWL_OK || uuid_is_nil(first))
        return status;
    status = why_read(request->store, first, request->arena, &why, &pause, err);
    if (status != PAWL_OK)
        return status == PAWL_NOT_FOUND ? PAWL_OK : status;
    told->found = true;
    why_tell(&told->text, "Stream %.*s is at its first unfinished message. ", STR_ARG(word));
    if (!request->front->sees_content(request->self))
        why.row.error = (pawl_str){NULL, 0};
    why_story(&why, &pause, &told->text, &told->next);
    return PAWL_OK;
}

static pawl_status tell_perspective(struct request *request, pawl_str word, struct why_told *told,
                                    pawl_error *err) {
    struct perspective_rows rows = {.count = 0};
    TRY(fleet_perspectives(request->store, (pawl_str){NULL, 0}, request->arena, &rows, err));
    const struct perspective_row *row = NULL;
    for (size_t i = 0; i < rows.count; i++) {
        bool named = str_equal(rows.rows[i].name, word);
        if (str_equal(rows.rows[i].key, word) ||
            (named && (row == NULL || row->state != PERSPECTIVE_LIVE))) /* the live version of a name */
            row = &rows.rows[i];
    }
    if (row == NULL)
        return PAWL_OK;
    told->found = true;
    why_tell(&told->text,
             "Perspective %.*s is %" PRId64 " events behind (%s%" PRId64 " s): %" PRId64
             " streams wait, %" PRId64 " are being applied, %" PRId64 " failed, %" PRId64
             " of them for good.",
             STR_ARG(row->key), row->lag_events, row->lag_whole ? "" : "at most ", row->lag_ms / 1000,
             row->pending, row->processing, row->failed, row->stopped);
    if (row->paused)
        buf_append_cstr(&told->text, " It is paused.");
    if (!row->backfilled)
        buf_append_cstr(&told->text, " Its streams are still being listed.");
    if (row->paused)
        buf_printf(&told->next, "pawl perspective resume %.*s.", STR_ARG(row->key));
    else if (row->failed > 0)
        buf_append_cstr(&told->next,
                        "pawl perspective errors shows why; repair, then pawl perspective reset or skip.");
    else if (row->lag_events > 0)
        buf_append_cstr(&told->next,
                        "Nothing while a worker with --kinds perspectives runs: pawl workers shows them.");
    else
        buf_append_cstr(&told->next, "Nothing: it shows everything.");
    return PAWL_OK;
}

static pawl_status tell_schedule(struct request *request, pawl_str word, struct why_told *told,
                                 pawl_error *err) {
    struct schedule_filter filter = {.name = word, .limit = 1};
    struct job_schedule_list found = {.count = 0};
    pawl_status status =
        request->store->ops->jobs->schedules(request->store, &filter, request->arena, &found, err);
    if (status != PAWL_OK || found.count == 0)
        return status;
    const struct job_schedule *one = &found.schedules[0];
    told->found = true;
    why_tell(&told->text, "Schedule %.*s of task %.*s", STR_ARG(one->name), STR_ARG(one->task));
    if (one->last_ms > 0) {
        why_tell(&told->text, " fired last %s", MOMENT(one->last_ms, found.now_ms));
    } else {
        buf_append_cstr(&told->text, " has not fired yet");
    }
    if (one->paused || one->next_ms == 0) {
        buf_printf(&told->text, " and %s.", one->paused ? "is paused" : "has no further instant");
        why_tell(&told->next, "%s%.*s.",
                 one->paused ? "pawl task resume " : "Nothing, or give it another time: pawl task create ",
                 STR_ARG(one->task));
        return PAWL_OK;
    }
    bool late = one->next_ms <= found.now_ms;
    why_tell(&told->text, "; its next instant %s %s.", late ? "was" : "is",
             MOMENT(one->next_ms, found.now_ms));
    buf_append_cstr(&told->next,
                    late ? "Schedules fire while a worker for jobs runs: start pawl worker --kinds jobs."
                         : "Nothing: it fires then.");
    return PAWL_OK;
}

static const char *job_state_phrase(enum job_state state) {
    static const char *const phrases[] = {"",           "is ready",           "runs now",
                                          "is not due", "waits for a signal", "is dead"};
    return phrases[state];
}

static pawl_status tell_task(struct request *request, pawl_str word, struct why_told *told, pawl_error *err) {
    struct task_list tasks = {.count = 0};
    struct job_rows jobs = {.count = 0};
    struct task_run_list runs = {.count = 0};
    struct job_filter open = {.task = word, .limit = 1};
    struct run_filter last = {.task = word, .limit = 1};
    const struct store_jobs_ops *ops = request->store->ops->jobs;
    pawl_status status =
        ops->tasks(request->store, word, (pawl_str){NULL, 0}, 1, request->arena, &tasks, err);
    if (status != PAWL_OK || tasks.count == 0)
        return status;
    told->found = true;
    do { /* a page may end early, even empty */
        open.after_id = jobs.next_id;
        status = ops->jobs(request->store, &open, request->arena, &jobs, err);
    } while (status == PAWL_OK && jobs.count == 0 && jobs.next_id > 0);
    if (status == PAWL_OK)
        status = ops->runs(request->store, &last, request->arena, &runs, err);
    if (status != PAWL_OK)
        return status;
    static const char *const outcomes[] = {
        "", "succeeded", "failed", "failed for good", "was cancelled", "was lost"};
    why_tell(&told->text, "Task %.*s", STR_ARG(tasks.tasks[0].name));
    if (runs.count > 0) {
        why_tell(&told->text, "'s last execution %s %s; ", outcomes[runs.runs[0].outcome],
                 MOMENT(runs.runs[0].finished_ms, told->now_ms));
    } else {
        buf_append_cstr(&told->text, " has no execution on record; ");
    }
    if (jobs.count > 0) {
        buf_printf(&told->text, "its first unfinished job is %" PRId64 ", which %s.", jobs.rows[0].job.id,
                   job_state_phrase(jobs.rows[0].state));
        buf_printf(&told->next, "pawl why job %" PRId64 ".", jobs.rows[0].job.id);
    } else {
        buf_append_cstr(&told->text, "no job of it is unfinished.");
        buf_append_cstr(&told->next,
                        "pawl task run starts one; pawl schedule list shows when the next is due.");
    }
    return PAWL_OK;
}

static pawl_status tell_instance(struct request *request, pawl_str word, struct why_told *told,
                                 pawl_error *err) {
    struct instance_rows rows = {.count = 0};
    pawl_uuid low, high;
    if (!uuid_range(word, &low, &high))
        return PAWL_OK;
    TRY(request->store->ops->view.instances(request->store, request->arena, &rows, err));
    const struct instance_row *row = NULL;
    for (size_t i = 0; i < rows.count; i++) {
        if (uuid_compare(rows.rows[i].id, low) < 0 || uuid_compare(rows.rows[i].id, high) > 0)
            continue;
        if (row != NULL) {
            char first[UUID_TEXT_BYTES], second[UUID_TEXT_BYTES];
            request_hint(request, "Write more of the id, or all of it.");
            return error_set(err, PAWL_CONFLICT, "why", "more than one instance begins with %.*s: %s, %s",
                             STR_ARG(word), uuid_format(row->id, first),
                             uuid_format(rows.rows[i].id, second));
        }
        row = &rows.rows[i];
    }
    if (row == NULL)
        return PAWL_OK;
    char id[UUID_TEXT_BYTES];
    told->found = true;
    uuid_format(row->id, id);
    told->id = str_from(arena_strdup(request->arena, id));
    why_tell(&told->text,
             "Instance %s (%.*s on %.*s, process %d) is %s: its last heartbeat is %" PRId64
             " s old, it holds %d claims with %d messages, and %d jobs.",
             id, STR_ARG(row->service), STR_ARG(row->host), row->pid, instance_state_name(row, told->now_ms),
             row->beat_age_ms / 1000, row->claims, row->in_flight, row->jobs);
    if (row->state == INSTANCE_EVICTED)
        buf_append_cstr(&told->next, "Nothing: its work is with other workers, anything it reports is stale, "
                                     "and a live one registers again.");
    else if (row->lease_until_ms <= told->now_ms)
        buf_printf(&told->next,
                   "Look at the process; other workers take its lanes at their next heartbeat, or pawl "
                   "instance evict %s does it now.",
                   id);
    else
        buf_append_cstr(&told->next, "Nothing: it lives.");
    return PAWL_OK;
}

const struct why_kind why_kinds[] = {
    {"instance", tell_instance},
    {"job", tell_job},
    {"run", tell_run},
    {"stream", tell_stream},
    {"perspective", tell_perspective},
    {"schedule", tell_schedule},
    {"task", tell_task},
};
const size_t why_kinds_count = sizeof why_kinds / sizeof *why_kinds;
