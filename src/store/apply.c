/* Applying a perspective to a batch: all together, otherwise stream by stream, otherwise event by event. */
#include "store/apply.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/workstatus.h"

/* These errors say nothing about the events: the batch is retried later. */
static bool is_transient(pawl_status status) {
    return status == PAWL_BUSY || status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN ||
           status == PAWL_STALE || status == PAWL_NO_MEMORY;
}

/* One try between savepoints. *failed: it was undone, and *fault says why. */
static pawl_status try_events(const struct apply_job *job, const pawl_stored_event *events, size_t count,
                              bool *failed, pawl_error *fault) {
    pawl_perspective_call call = job->call;
    call.events = events;
    call.count = count;
    *failed = false;
    error_clear(fault);
    pawl_status status = job->marks.mark(job->marks.store, fault);
    if (status != PAWL_OK)
        return status;
    status = job->function(&call, job->self, fault);
    if (status == PAWL_OK)
        return job->marks.keep(job->marks.store, fault);
    if (is_transient(status))
        return status;
    *failed = true;
    pawl_error ignored;
    return job->marks.undo(job->marks.store, &ignored);
}

static pawl_status note_error(struct apply_cut *cut, const pawl_stored_event *event, struct arena *arena,
                              const pawl_error *fault, pawl_error *err) {
    cut->failed_version = event->version;
    return str_dup(arena, utf8_cut(str_from(fault->text), PAWL_ERROR_BYTES_MAX), &cut->error, err);
}

static pawl_status run_one_by_one(const struct apply_job *job, const pawl_stored_event *events,
                                  struct apply_cut *cut, struct arena *arena, pawl_error *err) {
    pawl_error fault;
    bool failed = false;
    cut->version = cut->from_version;
    for (size_t i = 0; i < cut->count; i++) {
        const pawl_stored_event *event = &events[cut->first + i];
        pawl_status status = try_events(job, event, 1, &failed, &fault);
        if (status != PAWL_OK) {
            *err = fault;
            return status;
        }
        if (failed)
            return note_error(cut, event, arena, &fault, err);
        cut->version = event->version;
        cut->events++;
    }
    cut->version = cut->through_version; /* they failed only together: no reason to stop */
    return PAWL_OK;
}

static pawl_status run_cut(const struct apply_job *job, const pawl_stored_event *events,
                           struct apply_cut *cut, struct arena *arena, pawl_error *err) {
    pawl_error fault;
    bool failed = false;
    cut->version = cut->through_version;
    if (cut->count == 0)
        return PAWL_OK;
    pawl_status status = try_events(job, &events[cut->first], cut->count, &failed, &fault);
    if (status != PAWL_OK) {
        *err = fault;
        return status;
    }
    if (!failed) {
        cut->events = (int64_t)cut->count;
        return PAWL_OK;
    }
    if (cut->count == 1) {
        cut->version = cut->from_version;
        return note_error(cut, &events[cut->first], arena, &fault, err);
    }
    return run_one_by_one(job, events, cut, arena, err);
}

pawl_status apply_run(const struct apply_job *job, const pawl_stored_event *events, struct apply_cut *cuts,
                      size_t count, struct arena *arena, pawl_error *err) {
    size_t total = 0, parts = 0;
    bool failed = false;
    pawl_error fault;
    for (size_t i = 0; i < count; i++) {
        cuts[i].version = cuts[i].through_version;
        cuts[i].events = (int64_t)cuts[i].count;
        total += cuts[i].count;
        parts += cuts[i].count > 0 ? 1 : 0;
    }
    if (total == 0)
        return PAWL_OK;
    if (parts > 1) {
        pawl_status status = try_events(job, events, total, &failed, &fault);
        if (status != PAWL_OK) {
            *err = fault;
            return status;
        }
        if (!failed)
            return PAWL_OK;
    }
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        cuts[i].events = 0;
        status = run_cut(job, events, &cuts[i], arena, err);
    }
    return status;
}

struct apply_item apply_item_of(const struct apply_cut *cut) {
    return (struct apply_item){
        .answer = !cut->held                ? ANSWER_STALE
                  : !str_absent(cut->error) ? ANSWER_INVALID
                                            : ANSWER_APPLIED,
        .version = cut->version,
        .events = cut->events,
        .failed_version = cut->failed_version,
        .error = cut->error,
    };
}

enum store_answer checkpoint_answer(const struct checkpoint_found *found,
                                    const struct checkpoint_report *report) {
    bool same = report->version == found->version;
    if (found->held)
        return report->version < found->version                  ? ANSWER_STALE
               : report->version > found->head                   ? ANSWER_CONFLICT
               : same && report->status == CHECKPOINT_PROCESSING ? ANSWER_DUPLICATE
                                                                 : ANSWER_APPLIED;
    /* A completed checkpoint is stored as pending if there are newer events. */
    bool stored = report->status == found->status ||
                  (report->status == CHECKPOINT_COMPLETED && found->status == CHECKPOINT_PENDING &&
                   found->head > found->version);
    bool again = same && stored && report->token == found->token && report->token > 0 &&
                 report->status != CHECKPOINT_PROCESSING;
    return again ? ANSWER_DUPLICATE : ANSWER_STALE;
}

struct checkpoint_end apply_end_of(const struct apply_cut *cut, int64_t token) {
    return (struct checkpoint_end){
        .version = cut->version,
        .token = token,
        .status = !str_absent(cut->error)    ? CHECKPOINT_FAILED
                  : cut->version < cut->head ? CHECKPOINT_PROCESSING
                                             : CHECKPOINT_COMPLETED,
        .error = cut->error,
        .failed_version = cut->failed_version,
    };
}

struct checkpoint_end advance_end_of(const struct apply_cut *cut, int64_t token) {
    struct checkpoint_end end = apply_end_of(cut, token);
    if (end.status == CHECKPOINT_PROCESSING)
        end.status = CHECKPOINT_PENDING;
    return end;
}

static bool has_link(const struct advance_result *out, pawl_str traceparent) {
    for (size_t i = 0; i < out->link_count; i++)
        if (str_equal(out->links[i], traceparent))
            return true;
    return false;
}

pawl_status advance_links(const struct perspective_advance *in, const pawl_stored_event *events, size_t count,
                          struct arena *arena, struct advance_result *out, pawl_error *err) {
    if (in->links_max == 0)
        return PAWL_OK;
    size_t most = count < in->links_max ? count : in->links_max;
    pawl_status status = PAWL_OK;
    out->links = arena_array(arena, most, sizeof *out->links);
    if (out->links == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective_advance", "no memory for links");
    for (size_t i = 0; status == PAWL_OK && i < count && out->link_count < most; i++) {
        pawl_str link = events[i].traceparent;
        if (str_absent(link) || has_link(out, link))
            continue;
        status = str_dup(arena, link, &out->links[out->link_count], err);
        out->link_count += status == PAWL_OK;
    }
    return status;
}

bool checkpoint_left_alone(const struct checkpoint_look *look, pawl_str key) {
    for (size_t i = 0; i < look->except_count; i++) {
        if (str_equal(look->except[i], key))
            return true;
    }
    return false;
}

struct checkpoint_look advance_look(const struct perspective_advance *in, struct checkpoints_claim *claim,
                                    pawl_str *except) {
    struct checkpoint_look look = {.claim = claim, .except = except};
    *claim = (struct checkpoints_claim){.instance = in->instance,
                                        .streams = in->streams,
                                        .stream_count = in->stream_count,
                                        .perspectives = &in->perspective,
                                        .perspective_count = 1,
                                        .max = in->batch};
    for (size_t i = 0; i < in->mine_count; i++) {
        if (!str_equal(in->mine[i], in->perspective))
            except[look.except_count++] = in->mine[i];
    }
    return look;
}

static void json_member(struct buf *out, const char *name, pawl_str value, bool quoted) {
    buf_printf(out, ",\"%s\":", name);
    if (str_absent(value))
        buf_append_cstr(out, "null");
    else if (quoted)
        json_quote(out, value);
    else
        buf_append_str(out, value);
}

static void json_id(struct buf *out, const char *name, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    json_member(out, name, uuid_is_nil(id) ? (pawl_str){NULL, 0} : str_from(uuid_format(id, text)), true);
}

void apply_json(struct buf *out, const pawl_stored_event *events, size_t count) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        const pawl_stored_event *e = &events[i];
        buf_append_cstr(out, i > 0 ? ",{\"stream\":" : "{\"stream\":");
        json_quote(out, e->stream);
        buf_printf(out, ",\"version\":%" PRId64, e->version);
        json_id(out, "id", e->id);
        json_member(out, "type", e->type, true);
        json_member(out, "payload", e->payload, false);
        json_member(out, "metadata", e->metadata, false);
        json_id(out, "correlation_id", e->correlation_id);
        json_id(out, "causation_id", e->causation_id);
        json_member(out, "traceparent", e->traceparent, true);
        buf_printf(out, ",\"appended_ms\":%" PRId64 ",\"replay\":%s}", e->appended_ms,
                   e->replay ? "true" : "false");
    }
    buf_append_char(out, ']');
}

size_t wakes_take(const struct item *items, size_t count, pawl_str *streams, struct complete_item *done) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        done[i] = (struct complete_item){{items[i].token, items[i].id}, WORK_COMPLETED};
        if (!str_absent(items[i].stream))
            streams[used++] = items[i].stream;
    }
    return used;
}

pawl_status grants_join(const struct checkpoint_grants *first, const struct checkpoint_grants *second,
                        struct arena *arena, struct checkpoint_grants *out, pawl_error *err) {
    struct checkpoint_grants both = {.count = first->count + second->count};
    both.grants = arena_array(arena, both.count, sizeof *both.grants);
    if (both.grants == NULL)
        return error_set(err, PAWL_NO_MEMORY, "batch_process", "no memory for %zu checkpoints", both.count);
    for (size_t i = 0; i < both.count; i++)
        both.grants[i] = i < first->count ? first->grants[i] : second->grants[i - first->count];
    *out = both;
    return PAWL_OK;
}
