/* A message of the model, from its put to its end, and the stream it belongs to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "store/model/state.h"

static uint64_t stream_hash(enum store_kind kind, pawl_str key) {
    return model_hash_pair(fnv1a64(key), (uint64_t)kind);
}

static struct stream *stream_get(struct model *model, struct record *record) {
    char alone[32];
    pawl_str key = record->stream;
    if (str_absent(key)) {
        int len = snprintf(alone, sizeof alone, "\001%" PRId64, record->seq);
        key = (pawl_str){alone, (size_t)len};
    }
    uint64_t hash = stream_hash(record->kind, key);
    for (struct node *node = model_table_first(&model->streams, hash); node != NULL;
         node = model_table_next(node)) {
        struct stream *stream = node->thing;
        if (stream->kind == record->kind && str_equal(stream->key, key))
            return stream;
    }
    struct stream *stream = model_alloc(sizeof *stream);
    stream->kind = record->kind;
    stream->lane = record->lane;
    stream->key = model_text(key);
    stream->alone = str_absent(record->stream);
    model_table_add(&model->streams, &stream->by_key, hash, stream);
    return stream;
}

struct record *model_record_new(struct model *model, enum store_kind kind, const struct message_new *in,
                                pawl_str consumer) {
    struct record *record = model_alloc(sizeof *record);
    record->seq = ++model->last_seq;
    record->put_ms = model->now_ms;
    record->kind = kind;
    record->id = in->id;
    record->correlation_id = in->correlation_id;
    record->causation_id = in->causation_id;
    record->stream = model_text(in->stream);
    record->topic = model_text(in->topic);
    record->type = model_text(in->type);
    record->payload = model_text(in->payload);
    record->headers = model_text(in->headers);
    record->traceparent = model_text(in->traceparent);
    record->consumer = model_text(consumer);
    char id_text[UUID_TEXT_BYTES];
    pawl_str hashed = str_absent(in->stream) ? str_from(uuid_format(in->id, id_text)) : in->stream;
    record->partition = (int)partition_of(hashed, (uint32_t)model->settings.partition_count);
    record->lane = (int)lane_of((uint32_t)record->partition, (uint32_t)model->settings.lane_count);
    record->home = stream_get(model, record);
    record->home->records++;
    model_table_add(&model->ids, &record->by_id, model_hash_uuid(record->id), record);
    model_table_add(&model->seqs, &record->by_seq, model_hash_number(record->seq), record);

    record->place = PLACE_MESSAGE;
    struct lane *lane = model_lane_at(model, kind, record->lane);
    model_list_insert(&lane->messages, &record->lane_link, record);
    if (lane->unread == NULL)
        lane->unread = &record->lane_link;
    return record;
}

struct record *model_record_find_seq(const struct model *model, enum store_kind kind, int64_t seq) {
    struct node *node = model_table_first(&model->seqs, model_hash_number(seq));
    for (; node != NULL; node = model_table_next(node)) {
        struct record *record = node->thing;
        if (record->seq == seq && record->kind == kind)
            return record;
    }
    return NULL;
}

/* Takes the record out of the table it is in; the caller puts it into another or frees it. */
static void record_lift(struct model *model, struct record *record) {
    struct lane *lane = model_lane_at(model, record->kind, record->lane);
    switch (record->place) {
    case PLACE_MESSAGE:
        if (lane->unread == &record->lane_link)
            lane->unread = record->lane_link.next;
        model_list_remove(&lane->messages, &record->lane_link);
        break;
    case PLACE_ASIDE:
        model_list_remove(&record->home->aside, &record->stream_link);
        model->tally[record->kind].aside--;
        break;
    case PLACE_DEAD:
        model_list_remove(&record->home->dead, &record->stream_link);
        model->tally[record->kind].dead--;
        model_text_free(record->fingerprint);
        record->fingerprint = (pawl_str){NULL, 0};
        break;
    case PLACE_HISTORY:
        break;
    }
}

void model_record_to_aside(struct model *model, struct record *record, enum aside_reason reason,
                           int64_t scheduled_ms) {
    if (record->place != PLACE_ASIDE) {
        record_lift(model, record);
        record->place = PLACE_ASIDE;
        model_list_insert(&record->home->aside, &record->stream_link, record);
        model->tally[record->kind].aside++;
    }
    record->reason = (int)reason;
    record->scheduled_ms = scheduled_ms;
    record->ended_ms = 0;
    model_hold_follow(model, record->home);
}

void model_record_to_dead(struct model *model, struct record *record, enum dead_reason reason) {
    record_lift(model, record);
    record->place = PLACE_DEAD;
    record->reason = (int)reason;
    record->scheduled_ms = 0;
    record->ended_ms = model->now_ms;
    if (reason != DEAD_PARKED) {
        char text[FINGERPRINT_BYTES];
        record->fingerprint = model_text(str_from(fingerprint(record->error, text)));
    }
    model_list_insert(&record->home->dead, &record->stream_link, record);
    model->tally[record->kind].dead++;
    model_hold_follow(model, record->home);
}

void model_record_finish(struct model *model, struct record *record, bool keep) {
    record_lift(model, record);
    record->place = PLACE_HISTORY;
    record->ended_ms = model->now_ms;
    model_hold_follow(model, record->home);
    if (!keep)
        model_record_remove(model, record);
}

void model_record_remove(struct model *model, struct record *record) {
    struct stream *home = record->home;
    record_lift(model, record);
    model_table_remove(&model->ids, &record->by_id);
    model_table_remove(&model->seqs, &record->by_seq);
    const pawl_str texts[] = {record->stream,   record->topic,   record->type,
                              record->payload,  record->headers, record->traceparent,
                              record->consumer, record->error,   record->fingerprint};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        model_text_free(texts[i]);
    free(record);
    home->records--;
    if (home->records == 0 && home->hold == 0) {
        model_table_remove(&model->streams, &home->by_key);
        model_text_free(home->key);
        free(home);
    }
}

void model_record_set_error(struct record *record, pawl_str error) {
    model_text_free(record->error);
    record->error = model_text(error);
}

static void hold_link(struct model *model, struct stream *stream) {
    struct lane *lane = model_lane_at(model, stream->kind, stream->lane);
    stream->hold_next = lane->holds;
    stream->hold_prev = NULL;
    if (lane->holds != NULL)
        lane->holds->hold_prev = stream;
    lane->holds = stream;
    lane->hold_count++;
}

void model_hold_drop(struct model *model, struct stream *stream) {
    struct lane *lane = model_lane_at(model, stream->kind, stream->lane);
    *(stream->hold_prev != NULL ? &stream->hold_prev->hold_next : &lane->holds) = stream->hold_next;
    if (stream->hold_next != NULL)
        stream->hold_next->hold_prev = stream->hold_prev;
    stream->hold_prev = stream->hold_next = NULL;
    stream->hold = 0;
    stream->due_ms = stream->by_seq = 0;
    lane->hold_count--;
}

void model_hold_follow(struct model *model, struct stream *stream) {
    if (stream->hold == HOLD_BLOCKED || stream->hold == HOLD_PARKED)
        return;
    if (stream->aside.first == NULL) {
        if (stream->hold != 0)
            model_hold_drop(model, stream);
        return;
    }
    model_hold_set(model, stream, HOLD_WAITING, 0);
}

void model_hold_set(struct model *model, struct stream *stream, enum hold_state state, int64_t by_seq) {
    if (stream->hold == 0)
        hold_link(model, stream);
    stream->hold = (int)state;
    stream->by_seq = by_seq;
    stream->due_ms = state == HOLD_WAITING ? stream->aside.first->record->scheduled_ms : 0;
}
