/* The whole logical state as text lines (docs/state-dump.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/runs.h"
#include "store/model/view.h"

static void put_uuid(struct buf *buf, const char *name, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    buf_printf(buf, " %s=%s", name, uuid_is_nil(id) ? "-" : uuid_format(id, text));
}

void model_dump_text(struct buf *buf, const char *name, pawl_str text) {
    buf_printf(buf, " %s=", name);
    if (str_absent(text))
        buf_append_char(buf, '-');
    else
        json_quote(buf, text);
}

void model_dump_error(struct buf *buf, pawl_str error) {
    const char *end = error.len > 0 ? memchr(error.ptr, '\n', error.len) : NULL;
    if (end != NULL)
        error.len = (size_t)(end - error.ptr);
    model_dump_text(buf, "error", error);
}

static void dump_instances(const struct model *model, struct buf *buf) {
    for (size_t i = 0; i < model->instance_count; i++) {
        const struct instance *instance = model->instances[i];
        buf_append_cstr(buf, "instance");
        put_uuid(buf, "id", instance->id);
        model_dump_text(buf, "service", instance->service);
        buf_printf(buf, " kinds=%d state=%s beat=%" PRId64 " lease_until=%" PRId64 "\n", instance->kinds,
                   instance->state == INSTANCE_ACTIVE ? "active" : "evicted", instance->beat_ms,
                   instance->lease_until_ms);
    }
}

/* The things of a table, sorted; free() the array. */
static void **table_sorted(const struct table *table, int (*compare)(const void *a, const void *b)) {
    void **things = model_alloc(table->count * sizeof *things);
    size_t count = 0;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node))
        things[count++] = node->thing;
    if (count > 0)
        qsort(things, count, sizeof *things, compare);
    return things;
}

static int tombstone_compare(const void *a, const void *b) {
    const struct tombstone *x = *(struct tombstone *const *)a, *y = *(struct tombstone *const *)b;
    return uuid_compare(x->id, y->id);
}

static void dump_tombstones(const struct model *model, struct buf *buf) {
    void **things = table_sorted(&model->tombstones, tombstone_compare);
    for (size_t i = 0; i < model->tombstones.count; i++) {
        buf_append_cstr(buf, "tombstone");
        put_uuid(buf, "id", ((struct tombstone *)things[i])->id);
        buf_append_char(buf, '\n');
    }
    free(things);
}

static void dump_lanes(const struct model *model, struct buf *buf) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++) {
            const struct lane *lane = &model->lanes[kind][i];
            if (uuid_is_nil(lane->owner))
                continue;
            buf_printf(buf, "lane kind=%d lane=%d", kind, i);
            put_uuid(buf, "owner", lane->owner);
            buf_printf(buf, " draining=%d\n", lane->draining ? 1 : 0);
        }
    }
}

static bool in_place(const struct record *record, const void *self) {
    return record->place == *(const enum record_place *)self;
}

static int lane_seq_compare(const void *a, const void *b) {
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->lane != y->lane && x->place != PLACE_HISTORY)
        return x->lane < y->lane ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void dump_record(const struct record *record, struct buf *buf) {
    static const char *const names[] = {"", "message", "aside", "dead", "history"};
    buf_printf(buf, "%s kind=%d", names[record->place], (int)record->kind);
    if (record->place == PLACE_HISTORY) {
        put_uuid(buf, "id", record->id);
        buf_append_char(buf, '\n');
        return;
    }
    buf_printf(buf, " lane=%d", record->lane);
    put_uuid(buf, "id", record->id);
    model_dump_text(buf, "stream", record->stream);
    if (record->place == PLACE_MESSAGE) {
        model_dump_text(buf, "type", record->type);
        model_dump_text(buf, "payload", record->payload);
        model_dump_text(buf, "consumer", record->consumer);
        buf_printf(buf, " put_ms=%" PRId64 "\n", record->put_ms);
        return;
    }
    buf_printf(buf, " attempts=%d deaths=%d reason=%d", record->attempts, record->deaths, record->reason);
    model_dump_error(buf, record->error);
    if (record->place == PLACE_DEAD)
        buf_printf(buf, " died=%" PRId64 "\n", record->ended_ms);
    else
        buf_printf(buf, " scheduled=%" PRId64 " out_of_order=%d losses=%d\n", record->scheduled_ms,
                   record->out_of_order ? 1 : 0, record->losses);
}

static void dump_records(const struct model *model, enum record_place place, struct buf *buf) {
    struct records found = model_records_by_seq(model, in_place, &place);
    if (found.count > 0)
        qsort(found.at, found.count, sizeof(struct record *), lane_seq_compare);
    for (size_t i = 0; i < found.count; i++)
        dump_record(found.at[i], buf);
    free(found.at);
}

static int hold_compare(const void *a, const void *b) {
    const struct stream *x = *(struct stream *const *)a, *y = *(struct stream *const *)b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->aside.first != NULL && y->aside.first != NULL)
        return x->aside.first->record->seq < y->aside.first->record->seq ? -1 : 1;
    if ((x->aside.first != NULL) != (y->aside.first != NULL))
        return x->aside.first != NULL ? -1 : 1;
    return str_compare(x->key, y->key);
}

static void dump_holds(const struct model *model, struct buf *buf) {
    void **things = table_sorted(&model->streams, hold_compare);
    for (size_t i = 0; i < model->streams.count; i++) {
        const struct stream *stream = things[i];
        if (stream->hold == 0)
            continue;
        const struct record *by =
            stream->by_seq != 0 ? model_record_find_seq(model, stream->kind, stream->by_seq) : NULL;
        buf_printf(buf, "hold kind=%d", (int)stream->kind);
        model_dump_text(buf, "stream", stream->alone ? (pawl_str){NULL, 0} : stream->key);
        buf_printf(buf, " lane=%d state=%d due=%" PRId64, stream->lane, stream->hold, stream->due_ms);
        put_uuid(buf, "by", by != NULL ? by->id : uuid_nil());
        buf_append_char(buf, '\n');
    }
    free(things);
}

static int uuid_sort(const void *a, const void *b) {
    return uuid_compare(*(const pawl_uuid *)a, *(const pawl_uuid *)b);
}

static void dump_part(struct part *part, struct buf *buf) {
    char text[UUID_TEXT_BYTES];
    buf_printf(buf, "claim kind=%d lane=%d", (int)part->kind, part->lane);
    put_uuid(buf, "instance", part->instance);
    buf_printf(buf, " source=%s suspect=%d lease_until=%" PRId64 " ids=[",
               part->source == PLACE_MESSAGE ? "message" : "aside", (int)part->suspect, part->lease_until_ms);
    for (struct link *link = part->items.first; link != NULL; link = link->next)
        buf_printf(buf, "%s%s", link->prev != NULL ? "," : "", uuid_format(link->record->id, text));
    buf_append_cstr(buf, "] done=[");
    if (part->done_count > 0)
        qsort(part->done, part->done_count, sizeof *part->done, uuid_sort);
    for (size_t i = 0; i < part->done_count; i++)
        buf_printf(buf, "%s%s", i > 0 ? "," : "", uuid_format(part->done[i], text));
    buf_append_cstr(buf, "]\n");
}

static int part_first_compare(const void *a, const void *b) {
    const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
    return x->items.first->record->seq < y->items.first->record->seq ? -1 : 1;
}

static void dump_claims(const struct model *model, struct buf *buf) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++) {
            struct part **parts = NULL;
            size_t count = 0, cap = 0;
            for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
                parts = model_grow(parts, &cap, count + 1, sizeof(struct part *));
                parts[count++] = part;
            }
            if (count > 0)
                qsort(parts, count, sizeof(struct part *), part_first_compare);
            for (size_t j = 0; j < count; j++)
                dump_part(parts[j], buf);
            free(parts);
        }
    }
}

static int dedupe_compare(const void *a, const void *b) {
    const struct dedupe *x = *(struct dedupe *const *)a, *y = *(struct dedupe *const *)b;
    int order = str_compare(x->consumer, y->consumer);
    return order != 0 ? order : uuid_compare(x->id, y->id);
}

static void dump_dedupe(const struct model *model, struct buf *buf) {
    void **things = table_sorted(&model->dedupe, dedupe_compare);
    for (size_t i = 0; i < model->dedupe.count; i++) {
        const struct dedupe *dedupe = things[i];
        buf_append_cstr(buf, "dedupe");
        model_dump_text(buf, "consumer", dedupe->consumer);
        put_uuid(buf, "id", dedupe->id);
        buf_append_char(buf, '\n');
    }
    free(things);
}

static int receptor_compare(const void *a, const void *b) {
    const struct receptor *x = *(struct receptor *const *)a, *y = *(struct receptor *const *)b;
    int order = uuid_compare(x->event_id, y->event_id);
    return order != 0 ? order : str_compare(x->name, y->name);
}

static void dump_receptors(const struct model *model, struct buf *buf) {
    void **things = table_sorted(&model->receptors, receptor_compare);
    for (size_t i = 0; i < model->receptors.count; i++) {
        const struct receptor *receptor = things[i];
        buf_append_cstr(buf, "receptor");
        put_uuid(buf, "event", receptor->event_id);
        model_dump_text(buf, "receptor", receptor->name);
        buf_printf(buf, " status=%d attempts=%d", receptor->status, receptor->attempts);
        model_dump_error(buf, receptor->error);
        buf_append_char(buf, '\n');
    }
    free(things);
}

static int checkpoint_compare(const void *a, const void *b) {
    const struct checkpoint *x = *(struct checkpoint *const *)a, *y = *(struct checkpoint *const *)b;
    int order = str_compare(x->stream, y->stream);
    return order != 0 ? order : str_compare(x->perspective, y->perspective);
}

static void dump_checkpoints(const struct model *model, struct buf *buf) {
    void **things = table_sorted(&model->checkpoints, checkpoint_compare);
    for (size_t i = 0; i < model->checkpoints.count; i++) {
        const struct checkpoint *checkpoint = things[i];
        buf_append_cstr(buf, "checkpoint");
        model_dump_text(buf, "stream", checkpoint->stream);
        model_dump_text(buf, "perspective", checkpoint->perspective);
        buf_printf(buf, " version=%" PRId64 " status=%d attempts=%d", checkpoint->version,
                   (int)checkpoint->status, checkpoint->attempts);
        model_dump_error(buf, checkpoint->error);
        buf_append_char(buf, '\n');
    }
    free(things);
}

static void dump_tally(const struct model *model, struct buf *buf) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct tally *t = &model->tally[kind];
        buf_printf(buf,
                   "tally kind=%d put=%" PRId64 " done=%" PRId64 " failed=%" PRId64 " dead=%" PRId64
                   " aside=%" PRId64 " stale=%" PRId64 " duplicate=%" PRId64 " redriven=%" PRId64
                   " discarded=%" PRId64 "\n",
                   kind, t->put, t->done, t->failed, t->dead, t->aside, t->stale, t->duplicate, t->redriven,
                   t->discarded);
    }
}

pawl_status model_dump(struct store *store, struct buf *out, pawl_error *err) {
    struct model *model = model_enter(store);
    const struct settings *s = &model->settings;
    buf_printf(out, "settings partitions=%d lanes=%d epoch=%" PRId64 " max_attempts=%d policy=%d\n",
               s->partition_count, s->lane_count, s->epoch, s->max_attempts, s->dead_policy);
    dump_instances(model, out);
    dump_tombstones(model, out);
    dump_lanes(model, out);
    dump_records(model, PLACE_MESSAGE, out);
    dump_records(model, PLACE_ASIDE, out);
    dump_holds(model, out);
    dump_claims(model, out);
    dump_records(model, PLACE_DEAD, out);
    dump_dedupe(model, out);
    dump_receptors(model, out);
    dump_checkpoints(model, out);
    dump_tally(model, out);
    dump_records(model, PLACE_HISTORY, out);
    model_runs_dump(model, out);
    return model_leave(model, buf_status(out, "dump", err));
}
