/* Why a message is not done yet. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/view.h"

/* The first message of the stream that is not finished, or NULL when that is the record itself. */
static struct record *blocker_find(struct model *model, const struct record *record, bool *many_ahead) {
    const struct stream *stream = record->home;
    struct record *first = NULL;
    if (stream->aside.first != NULL)
        first = stream->aside.first->record;
    if (stream->flying.first != NULL && (first == NULL || stream->flying.first->record->seq < first->seq))
        first = stream->flying.first->record;
    struct lane *lane = model_lane_at(model, record->kind, record->lane);
    int ahead = 0;
    for (struct link *link = lane->unread; link != NULL && link->record->seq < record->seq;
         link = link->next) {
        *many_ahead = ahead++ == PAWL_WHY_AHEAD;
        if (*many_ahead)
            break;
        if (link->record->home == stream) {
            if (first == NULL || link->record->seq < first->seq)
                first = link->record;
            break;
        }
    }
    /* Something aside comes first even when it is later: it was redriven out of order and runs next. */
    if (first == NULL || first == record || (record->place == PLACE_ASIDE && first->seq > record->seq))
        return NULL;
    return first;
}

static enum why_cause lane_cause(struct model *model, const struct record *record, struct why *out) {
    const struct lane *lane = model_lane_at(model, record->kind, record->lane);
    if (uuid_is_nil(lane->owner))
        return WHY_NO_OWNER;
    const struct instance *owner = model_instance_find(model, lane->owner);
    out->instance = lane->owner;
    if (owner == NULL || !model_instance_live(model, owner))
        return WHY_OWNER_SILENT;
    if (lane->draining)
        return WHY_DRAINING;
    return record->losses >= PAWL_SUSPECT_LOSSES ? WHY_SUSPECT : WHY_READY;
}

/* The cause of one record; *blocker is what it waits for, when it waits for another message. */
static enum why_cause cause_of(struct model *model, const struct record *record, struct record **blocker,
                               struct why *out) {
    *blocker = NULL;
    if (record->place == PLACE_HISTORY)
        return WHY_DONE;
    if (record->place == PLACE_DEAD)
        return WHY_DEAD;
    if (record->part != NULL) {
        out->instance = record->part->instance;
        out->until_ms = record->part->lease_until_ms;
        return record->part->lease_until_ms > model->now_ms ? WHY_RUNNING : WHY_LEASE_OVER;
    }
    const struct stream *stream = record->home;
    if (stream->hold == HOLD_BLOCKED || stream->hold == HOLD_PARKED) {
        *blocker = model_record_find_seq(model, record->kind, stream->by_seq);
        return WHY_BLOCKED;
    }
    bool many_ahead = false;
    *blocker = blocker_find(model, record, &many_ahead);
    if (*blocker != NULL)
        return WHY_BEHIND;
    out->many_ahead = many_ahead && !str_absent(record->stream);
    if (record->place == PLACE_ASIDE && record->scheduled_ms > model->now_ms) {
        out->until_ms = record->scheduled_ms;
        return WHY_SCHEDULED;
    }
    return lane_cause(model, record, out);
}

/* Unfinished ones first, then dead, then done; each by seq. */
static struct record *why_pick(struct records found) {
    struct record *best = NULL;
    for (size_t i = 0; i < found.count; i++) {
        int rank = found.at[i]->place <= PLACE_ASIDE ? 0 : (int)found.at[i]->place;
        int best_rank = best == NULL ? 100 : best->place <= PLACE_ASIDE ? 0 : (int)best->place;
        if (rank < best_rank)
            best = found.at[i];
    }
    return best;
}

pawl_status model_why(struct store *store, pawl_uuid id, struct arena *arena, struct why *out,
                      pawl_error *err) {
    struct model *model = model_enter(store);
    struct records found = model_records_with_id(model, id);
    struct record *record = why_pick(found);
    free(found.at);
    if (record == NULL) {
        char text[UUID_TEXT_BYTES];
        return model_leave(model,
                           error_set(err, PAWL_NOT_FOUND, "why",
                                     "no message %s is known; it was never put, or it is done and gone",
                                     uuid_format(id, text)));
    }
    struct why why = {.now_ms = model->now_ms};
    struct record *blocker = NULL, *ignored = NULL;
    why.cause = cause_of(model, record, &blocker, &why);
    if (blocker != NULL) {
        struct why step = {0};
        why.blocker_id = blocker->id;
        why.blocker_seq = blocker->seq;
        why.blocker_cause = cause_of(model, blocker, &ignored, &step);
    }
    pawl_status status = model_row_copy(record, arena, &why.row, err);
    if (status == PAWL_OK)
        *out = why;
    return model_leave(model, status);
}
