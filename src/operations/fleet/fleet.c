/* Operations on the fleet: instances, lanes, streams; and the available transports. */
#include "operations/fleet/fleet.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "transport/module.h"
#include "view/fleet.h"
#include "view/output/row.h"
#include "view/stream.h"
#include "work/doctor/doctor.h"

static const struct column evicted_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "state")}};

static pawl_status instance_list(struct request *request, pawl_error *err) {
    struct instance_rows rows;
    int64_t now_ms = 0;
    TRY(request->store->ops->core.clock_read(request->store, &now_ms, err));
    TRY(request->store->ops->view.instances(request->store, request->arena, &rows, err));
    request_list(request, instance_columns, INSTANCE_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[INSTANCE_COLUMNS];
        instance_cells(&rows.rows[i], now_ms, cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

static pawl_status instance_evict(struct request *request, pawl_error *err) {
    pawl_uuid id = request_value(request, "id").uuid;
    TRY(request->store->ops->core.instance_evict(request->store, id, err));
    return REQUEST_RECORD(request, evicted_columns, err, cell_uuid(id), cell_cstr("evicted"));
}

static pawl_status lane_list(struct request *request, pawl_error *err) {
    struct settings settings;
    int kind, last;
    request_kinds(request, &kind, &last);
    TRY(request->store->ops->core.settings_read(request->store, &settings, err));
    request_list(request, lane_columns, LANE_COLUMNS);
    for (; kind <= last; kind++) {
        struct lane_rows rows = {.count = 0};
        TRY(request->store->ops->view.lanes(request->store, (enum store_kind)kind, request->arena, &rows,
                                            err));
        for (size_t i = 0; i < rows.count; i++) {
            struct cell cells[LANE_COLUMNS];
            lane_cells(&rows.rows[i], &settings, cells);
            request_row(request, cells);
        }
    }
    return request_list_end(request, NULL, err);
}

/* ---- Streams */

enum { PLACE_COLUMNS = 10 };
static const struct column place_columns[PLACE_COLUMNS] = {
    {COLUMN(TEXT, "stream")},         {COLUMN(INT, "partition")},          {COLUMN(INT, "lane")},
    {COLUMN(INT, "partition_count")}, {COLUMN(INT, "lane_count")},         {COLUMN(UUID, "outbox_owner")},
    {COLUMN(UUID, "inbox_owner")},    {COLUMN(UUID, "perspective_owner")}, {COLUMN(INT, "event_version")},
    {COLUMN(BOOL, "paused")}};

/* The owner of the lane for a kind; nil when it is free. */
static pawl_status owner_of(struct request *request, int kind, int lane, pawl_uuid *owner, pawl_error *err) {
    struct lane_rows rows = {.count = 0};
    TRY(request->store->ops->view.lanes(request->store, (enum store_kind)kind, request->arena, &rows, err));
    *owner = uuid_nil();
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].lane == lane)
            *owner = rows.rows[i].owner;
    return PAWL_OK;
}

static pawl_status read_paused(struct request *request, pawl_str stream, bool *paused, pawl_error *err) {
    struct pause_rows rows;
    TRY(request->store->ops->relay->pauses(request->store, request->arena, &rows, err));
    for (size_t i = 0; i < rows.count; i++)
        *paused = *paused || (rows.rows[i].scope == PAUSE_STREAM && str_equal(rows.rows[i].name, stream));
    return PAWL_OK;
}

static pawl_status stream_place(struct request *request, pawl_error *err) {
    struct settings settings;
    pawl_str stream = request_text(request, "stream");
    pawl_read query = {.stream = stream, .backward = true, .limit = 1};
    struct event_list head = {.head = 0};
    bool paused = false;
    TRY(request->store->ops->core.settings_read(request->store, &settings, err));
    uint32_t partition = partition_of(stream, (uint32_t)settings.partition_count);
    int lane = (int)lane_of(partition, (uint32_t)settings.lane_count);
    struct cell cells[PLACE_COLUMNS] = {cell_text(stream), cell_int(partition), cell_int(lane),
                                        cell_int(settings.partition_count), cell_int(settings.lane_count)};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        pawl_uuid owner;
        TRY(owner_of(request, kind, lane, &owner, err));
        cells[4 + kind] = cell_uuid(owner);
    }
    TRY(request->store->ops->events.events_read(request->store, &query, request->arena, &head, err));
    TRY(read_paused(request, stream, &paused, err));
    cells[PLACE_COLUMNS - 2] = cell_int(head.head);
    cells[PLACE_COLUMNS - 1] = cell_bool(paused);
    return request_record(request, place_columns, PLACE_COLUMNS, cells, err);
}

/* ---- What is not in the database */

static const struct column transport_columns[] = {{COLUMN(TEXT, "transport")},
                                                  {COLUMN(BOOL, "available")},
                                                  {COLUMN(TEXT, "schemes")},
                                                  {COLUMN(TEXT, "library")},
                                                  {COLUMN(BOOL, "receives"), .show = SHOW_WIDE},
                                                  {COLUMN(TEXT, "summary"), .drop = 1},
                                                  {COLUMN(TEXT, "reason"), .cut = true}};

static pawl_status transport_list(struct request *request, pawl_error *err) {
    request_list(request, transport_columns, COLUMN_COUNT(transport_columns));
    for (size_t i = 0; i < transport_known_count; i++) {
        const struct transport_known *known = &transport_known_rows[i];
        const struct transport_module *module = NULL;
        pawl_error why = {.text = ""};
        bool here = transport_load(known->name, &module, &why) == PAWL_OK;
        request_row(request,
                    (struct cell[]){cell_cstr(known->name), cell_bool(here), cell_cstr(known->schemes),
                                    cell_cstr(here ? module->library : NULL),
                                    here ? cell_bool(module->subscribe != NULL) : cell_none(),
                                    cell_cstr(known->summary), here ? cell_none() : cell_cstr(why.text)});
    }
    return request_list_end(request, NULL, err);
}

static const struct column doctor_check_columns[] = {{COLUMN(TEXT, "check")},
                                                     {COLUMN(TEXT, "severity")},
                                                     {COLUMN(TEXT, "stores")},
                                                     {COLUMN(TEXT, "why"), .cut = true},
                                                     {COLUMN(TEXT, "next"), .cut = true}};
const struct column finding_columns[FINDING_COLUMNS] = {
    {COLUMN(TEXT, "severity")},
    {COLUMN(TEXT, "check")},
    {COLUMN(TEXT, "found"), .cut = true},
    {COLUMN(TEXT, "why"), .show = SHOW_WIDE, .cut = true},
    {COLUMN(TEXT, "next"), .cut = true, .drop = 1},
};

static struct cell severity_cell(const struct doctor_check *check) {
    return cell_cstr(check->severity == DOCTOR_FAULT ? "fault" : "warning");
}

static pawl_status doctor_check_list(struct request *request, pawl_error *err) {
    request_list(request, doctor_check_columns, COLUMN_COUNT(doctor_check_columns));
    for (size_t i = 0; i < doctor_checks_count; i++) {
        const struct doctor_check *check = &doctor_checks[i];
        request_row(request,
                    (struct cell[]){cell_cstr(check->name), severity_cell(check), cell_cstr(check->stores),
                                    cell_cstr(check->why), cell_cstr(check->next)});
    }
    return request_list_end(request, NULL, err);
}

void finding_cells(const struct doctor_finding *finding, struct cell cells[static FINDING_COLUMNS]) {
    const struct doctor_check *check = finding->check;
    cells[0] = severity_cell(check);
    cells[1] = cell_cstr(check->name);
    cells[2] = cell_text(finding->found);
    cells[3] = cell_cstr(check->why);
    cells[4] = cell_cstr(check->next);
}

#define ROW struct duty_row
static const struct column duty_columns[] = {{.key = "name", TEXT_OF(name)},
                                             {.key = "instance", UUID_OF(instance)},
                                             {.key = "token", INT_OF(token)},
                                             {.key = "lease_until", TIME_OF(lease_until_ms)}};
#undef ROW

static pawl_status duty_list(struct request *request, pawl_error *err) {
    struct duty_rows found;
    TRY(request->store->ops->relay->duties(request->store, request->arena, &found, err));
    return request_rows(request, ROWS_OF(duty, found.rows, found.count), NULL, err);
}

static pawl_status stream_list(struct request *request, pawl_error *err) {
    struct stream_rows found;
    int64_t look = request_number(request, "look", PAWL_LIST_SCAN);
    TRY(streams_waiting(request->store, (enum store_kind)request_choice(request, "kind"), (int)look,
                        request->arena, &found, err));
    if (found.count > 0 && !found.rows[0].complete)
        request_below(
            request,
            arena_printf(request->arena,
                         "the first %lld messages of each state were counted; there are more: --look N "
                         "looks at more",
                         (long long)look));
    return request_rows(request, ROWS_OF(stream, found.rows, found.count), NULL, err);
}

/* ---- The tables */

static const struct field kind_fields[] = {FIELD_ROW_KIND(IN_QUERY)};
static const struct field instance_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The id of the instance."), .required = true}};
static const struct field waiting_fields[] = {
    FIELD_ROW_KIND(IN_QUERY),
    {INT_FIELD(IN_QUERY, "look", 1, STREAMS_LOOK_MAX,
               "At most this many messages of each state are read, 10000 by default; the counts cover only "
               "these.")}};
static const struct field stream_fields[] = {
    {TEXT_FIELD(IN_PATH, "stream", PAWL_STREAM_BYTES_MAX, "The stream."), .required = true}};

static const struct operation instances[] = {
    {OPERATION("instance.list", "List the instances: one row per running worker process"),
     READS("/v1/instances"), COLUMNS(instance_columns), .run = instance_list,
     .details = "A silent instance has not sent a heartbeat within its lease; its peers evict it when they "
                "next look.",
     .empty = "no instances"},
    {OPERATION("instance.evict", "Evict an instance: take all its work away"),
     POSTS("/v1/instances/{id}/evict"), FIELDS(instance_fields), RECORD(evicted_columns),
     .run = instance_evict,
     .details = "Its lanes become free and its claims end: what it may have started counts as lost and is "
                "claimed by other workers. Anything it reports afterwards is stale. Use it for an instance "
                "that hangs; a live one registers again."},
};

static const struct operation streams[] = {
    {OPERATION("stream.list", "List the streams with waiting messages, and the first message of each"),
     READS("/v1/streams"), FIELDS(waiting_fields), COLUMNS(stream_columns), .run = stream_list,
     .details =
         "Those in which messages are blocked come first, then those with dead letters. When there are "
         "more messages than --look, complete is false: then the counts are those of what was looked at.",
     .example = "pawl stream list --kind inbox -o ndjson | jq 'select(.blocked > 0)'",
     .empty = "no message of a stream waits"},
    {OPERATION("stream.show", "Show where a stream belongs and who owns it"), READS("/v1/streams/{stream}"),
     FIELDS(stream_fields), RECORD(place_columns), .run = stream_place,
     .details =
         "What waits in it, in its order: pawl message list --stream; what a message waits for: pawl why.",
     .example = "pawl stream show order-1"},
    {OPERATION("partition.list", "List the lanes with their owners and what is in flight"),
     READS("/v1/partitions"), FIELDS(kind_fields), COLUMNS(lane_columns), .run = lane_list,
     .details = "A lane is a fixed group of partitions that is owned, read and handed over as one. holds "
                "counts the streams of the lane that have a message set aside.",
     .example = "pawl partition list --kind outbox", .empty = "no lanes"},
    {OPERATION("partition.show", "Show the partition, the lane and the owners of a stream"),
     READS("/v1/partitions/{stream}"), FIELDS(stream_fields), RECORD(place_columns), .run = stream_place,
     .example = "pawl partition show order-1"},
    {OPERATION("duty.list", "List the duties, each held by one instance at a time, and their holders"),
     READS("/v1/duties"), COLUMNS(duty_columns), .run = duty_list, .empty = "no duties"},
};

static const struct operation transports[] = {
    {OPERATION("transport.list", "List the brokers that can be used, and why others cannot"),
     READS("/v1/transports"), COLUMNS(transport_columns), .run = transport_list, .database = DATABASE_NONE,
     .details = "Every transport is a separate, optional module, pawl-transport-NAME.so. Modules are looked "
                "for in PAWL_TRANSPORT_DIR, next to a program that runs from its build directory, and where "
                "pawl is installed.",
     .example = "pawl transport list -o json | jq '.[] | select(.available)'", .empty = "no transports"},
};

static const struct operation doctor[] = {
    {OPERATION("doctor.checks", "List the checks of the doctor"), READS("/v1/doctor/checks"),
     .pool = POOL_LOOP, COLUMNS(doctor_check_columns), .run = doctor_check_list, .database = DATABASE_NONE},
};

const struct operation_table instance_operations = OPERATION_TABLE(instances);
const struct operation_table stream_operations = OPERATION_TABLE(streams);
const struct operation_table transport_operations = OPERATION_TABLE(transports);
const struct operation_table doctor_operations = OPERATION_TABLE(doctor);
