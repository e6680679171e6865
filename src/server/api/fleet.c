/* Who works: instances, lanes, duties, and where a stream belongs. */
#include <inttypes.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/fleet.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/stream.h"

static pawl_status list_instances(struct call *call, pawl_error *err) {
    struct instance_rows rows;
    int64_t now_ms = 0;
    pawl_status status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    if (status == PAWL_OK)
        status = call->store->ops->view.instances(call->store, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[INSTANCE_COLUMNS];
        instance_cells(&rows.rows[i], now_ms, cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

static pawl_status evict(struct call *call, pawl_error *err) {
    pawl_uuid id = call_value(call, "id")->uuid;
    pawl_status status = call->store->ops->core.instance_evict(call->store, id, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_uuid(id), cell_cstr("evicted")});
    return status;
}

static pawl_status list_lanes(struct call *call, pawl_error *err) {
    struct settings settings;
    int kind = call_choice(call, "kind");
    int first = kind != 0 ? kind : KIND_OUTBOX, last = kind != 0 ? kind : KIND_COUNT;
    pawl_status status = call->store->ops->core.settings_read(call->store, &settings, err);
    call_list(call);
    for (kind = first; status == PAWL_OK && kind <= last; kind++) {
        struct lane_rows rows = {.count = 0};
        status = call->store->ops->view.lanes(call->store, (enum store_kind)kind, call->arena, &rows, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            struct cell cells[LANE_COLUMNS];
            lane_cells(&rows.rows[i], &settings, cells);
            call_row(call, cells);
        }
    }
    return status == PAWL_OK ? call_list_end(call, NULL, err) : status;
}

#define ROW struct duty_row
static const struct column duty_columns[] = {{.key = "name", TEXT_OF(name)},
                                             {.key = "instance", UUID_OF(instance)},
                                             {.key = "token", INT_OF(token)},
                                             {.key = "lease_until", TIME_OF(lease_until_ms)}};
#undef ROW

static pawl_status list_duties(struct call *call, pawl_error *err) {
    struct duty_rows rows;
    pawl_status status = call->store->ops->relay->duties(call->store, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, rows.rows, sizeof *rows.rows, rows.count);
    return call_list_end(call, NULL, err);
}

static const struct column place_columns[] = {
    {COLUMN(TEXT, "stream")},         {COLUMN(INT, "partition")},          {COLUMN(INT, "lane")},
    {COLUMN(INT, "partition_count")}, {COLUMN(INT, "lane_count")},         {COLUMN(UUID, "outbox_owner")},
    {COLUMN(UUID, "inbox_owner")},    {COLUMN(UUID, "perspective_owner")}, {COLUMN(INT, "event_version")},
    {COLUMN(BOOL, "paused")}};

static pawl_status paused(struct call *call, pawl_str stream, bool *is_paused, pawl_error *err) {
    struct pause_rows rows;
    pawl_status status = call->store->ops->relay->pauses(call->store, call->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        *is_paused = *is_paused ||
                     (rows.rows[i].scope == PAUSE_STREAM && str_equal(rows.rows[i].name, stream));
    return status;
}

static pawl_status read_stream(struct call *call, pawl_error *err) {
    pawl_str stream = call_text(call, "name");
    struct settings settings;
    struct event_list head = {.head = 0};
    struct events_query query = {.stream = stream, .backward = true, .limit = 1};
    pawl_uuid owners[KIND_COUNT + 1] = {{{0}}};
    bool is_paused = false;
    pawl_status status = call->store->ops->core.settings_read(call->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    int partition = (int)partition_of(stream, (uint32_t)settings.partition_count);
    int lane = (int)lane_of((uint32_t)partition, (uint32_t)settings.lane_count);
    for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++) {
        struct lane_rows rows = {.count = 0};
        status = call->store->ops->view.lanes(call->store, (enum store_kind)kind, call->arena, &rows, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
            if (rows.rows[i].lane == lane)
                owners[kind] = rows.rows[i].owner;
    }
    if (status == PAWL_OK)
        status = call->store->ops->events.events_read(call->store, &query, call->arena, &head, err);
    if (status == PAWL_OK)
        status = paused(call, stream, &is_paused, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_text(stream), cell_int(partition), cell_int(lane),
                                          cell_int(settings.partition_count), cell_int(settings.lane_count),
                                          cell_uuid(owners[KIND_OUTBOX]), cell_uuid(owners[KIND_INBOX]),
                                          cell_uuid(owners[KIND_PERSPECTIVE]), cell_int(head.head),
                                          cell_bool(is_paused)});
    return status;
}

static pawl_status list_streams(struct call *call, pawl_error *err) {
    struct stream_rows found;
    pawl_status status = streams_waiting(call->store, (enum store_kind)call_choice(call, "kind"),
                                         call_limit(call), call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    call_rows(call, found.rows, sizeof *found.rows, found.count);
    return call_list_end(call, NULL, err);
}

static const struct field kind_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", KIND_CHOICES, "Only of this kind.")}};
static const struct field instance_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The id of the instance."), .required = true}};
static const struct field waiting_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", KIND_CHOICES, "Only of this kind.")},
    {INT_FIELD(IN_QUERY, "limit", 1, PAWL_HTTP_LIST_MAX,
               "At most this many messages of each state are looked at; the counts are of these.")}};
static const struct field stream_fields[] = {FIELD_ROW_NAME("The stream.")};
static const struct column evicted_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "state")}};

static const struct route routes[] = {
    {READS("/v1/instances", "listInstances"), .tag = "fleet",
     .summary = "List the instances: one per running worker process", COLUMNS(instance_columns),
     .run = list_instances},
    {ACTS(METHOD_POST, "/v1/instances/{id}/evict", "evictInstance"), .tag = "fleet",
     .summary = "Evict an instance: take all its work away", FIELDS(instance_fields), .shape = ANSWER_RECORD,
     COLUMNS(evicted_columns), .run = evict},
    {READS("/v1/partitions", "listPartitions"), .tag = "fleet",
     .summary = "List the lanes, how many partitions each has, and who owns it", FIELDS(kind_fields),
     COLUMNS(lane_columns), .run = list_lanes},
    {READS("/v1/duties", "listDuties"), .tag = "fleet",
     .summary = "List what exactly one instance does at a time, and which", COLUMNS(duty_columns),
     .run = list_duties},
    {READS("/v1/streams", "listStreams"), .tag = "fleet",
     .summary = "List the streams with waiting messages, and the first message of each",
     FIELDS(waiting_fields), COLUMNS(stream_columns), .run = list_streams},
    {READS("/v1/streams/{name}", "readStreamPlace"), .tag = "fleet",
     .summary = "Where a stream belongs, who owns it, and whether it is paused", FIELDS(stream_fields),
     .shape = ANSWER_RECORD, COLUMNS(place_columns), .run = read_stream},
};

const struct route_table fleet_routes = ROUTE_TABLE(routes);
