/* Why a message waits, including pauses and cancellations. */
#include "view/why/pause.h"

#include "base/str.h"
#include "base/uuid.h"
#include "domain/pattern.h"
#include "store/event_receptors.h"

/* Only the worker knows which handler gets a message; here a pause of a handler applies if its pattern
 * matches. */
static bool handler_fits(pawl_str name, const struct item *item) {
    pawl_str receptor;
    if (item->kind == KIND_INBOX && receptor_of_consumer(item->consumer, &receptor))
        return str_equal(name, receptor);
    return pattern_matches(name, item->type) ||
           (item->kind == KIND_OUTBOX && !str_absent(item->topic) && pattern_matches(name, item->topic));
}

static bool fits(const struct pause_row *row, const struct item *item) {
    char id[UUID_TEXT_BYTES];
    switch (row->scope) {
    case PAUSE_TOPIC:
        return str_equal(row->name, str_absent(item->topic) ? item->type : item->topic);
    case PAUSE_STREAM:
        return !str_absent(item->stream) && str_equal(row->name, item->stream);
    case PAUSE_HANDLER:
        return handler_fits(row->name, item);
    case PAUSE_MESSAGE:
        return str_equal_cstr(row->name, uuid_format(item->id, id));
    case PAUSE_QUEUE:
        return false;
    }
    return false;
}

/* A cancellation takes precedence over a pause. */
static const struct pause_row *find(const struct pause_rows *pauses, const struct item *item) {
    const struct pause_row *found = NULL;
    for (size_t i = 0; item->kind != KIND_PERSPECTIVE && i < pauses->count; i++)
        if (fits(&pauses->rows[i], item) && (found == NULL || pauses->rows[i].scope == PAUSE_MESSAGE))
            found = &pauses->rows[i];
    return found;
}

static bool waits(enum why_cause cause) { return cause >= WHY_LEASE_OVER && cause <= WHY_SUSPECT; }

pawl_status why_read(struct store *store, pawl_uuid id, struct arena *arena, struct why *why,
                     struct why_pause *pause, pawl_error *err) {
    struct pause_rows pauses = {.count = 0};
    struct message_rows front = {.count = 0};
    *pause = (struct why_pause){.front = false};
    pawl_status status = store->ops->view.why(store, id, arena, why, err);
    if (status != PAWL_OK || (!waits(why->cause) && why->cause != WHY_RUNNING))
        return status;
    status = store->ops->relay->pauses(store, arena, &pauses, err);
    if (status != PAWL_OK || pauses.count == 0)
        return status;
    const struct pause_row *row = find(&pauses, &why->row.item);
    if (row == NULL && why->cause == WHY_BEHIND)
        status = store->ops->view.message_find(store, why->blocker_id, arena, &front, err);
    for (size_t i = 0; status == PAWL_OK && row == NULL && i < front.count; i++) {
        pause->front = front.rows[i].item.kind == why->row.item.kind;
        row = pause->front ? find(&pauses, &front.rows[i].item) : NULL;
    }
    if (status != PAWL_OK || row == NULL || (why->cause == WHY_RUNNING && row->scope != PAUSE_MESSAGE))
        return status;
    pause->row = *row;
    why->cause = row->scope == PAUSE_MESSAGE && !pause->front ? WHY_CANCELLED : WHY_PAUSED;
    return PAWL_OK;
}
