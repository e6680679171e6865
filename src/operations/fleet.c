/* Operations on the fleet: instances, lanes, streams; and the available transports. */
#include "operations/fleet.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/operations.h"
#include "transport/module.h"
#include "view/fleet.h"
#include "work/doctor/doctor.h"

const struct column evicted_columns[EVICTED_COLUMNS] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "state")}};

pawl_status op_instance_list(struct request *request, pawl_error *err) {
    struct instance_rows rows;
    int64_t now_ms = 0;
    pawl_status status = request->store->ops->core.clock_read(request->store, &now_ms, err);
    if (status == PAWL_OK)
        status = request->store->ops->view.instances(request->store, request->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    request_list(request, instance_columns, INSTANCE_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[INSTANCE_COLUMNS];
        instance_cells(&rows.rows[i], now_ms, cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

pawl_status op_instance_evict(struct request *request, pawl_error *err) {
    pawl_uuid id = request_value(request, "id").uuid;
    pawl_status status = request->store->ops->core.instance_evict(request->store, id, err);
    if (status != PAWL_OK)
        return status;
    return REQUEST_RECORD(request, evicted_columns, err, cell_uuid(id), cell_cstr("evicted"));
}

pawl_status op_lane_list(struct request *request, pawl_error *err) {
    struct settings settings;
    int kind, last;
    request_kinds(request, &kind, &last);
    pawl_status status = request->store->ops->core.settings_read(request->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    request_list(request, lane_columns, LANE_COLUMNS);
    for (; status == PAWL_OK && kind <= last; kind++) {
        struct lane_rows rows = {.count = 0};
        status = request->store->ops->view.lanes(request->store, (enum store_kind)kind, request->arena, &rows,
                                                 err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            struct cell cells[LANE_COLUMNS];
            lane_cells(&rows.rows[i], &settings, cells);
            request_row(request, cells);
        }
    }
    return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
}

/* ---- Streams */

const struct column place_columns[PLACE_COLUMNS] = {
    {COLUMN(TEXT, "stream")},         {COLUMN(INT, "partition")},          {COLUMN(INT, "lane")},
    {COLUMN(INT, "partition_count")}, {COLUMN(INT, "lane_count")},         {COLUMN(UUID, "outbox_owner")},
    {COLUMN(UUID, "inbox_owner")},    {COLUMN(UUID, "perspective_owner")}, {COLUMN(INT, "event_version")},
    {COLUMN(BOOL, "paused")}};

/* The owner of the lane for a kind; nil when it is free. */
static pawl_status owner_of(struct request *request, int kind, int lane, pawl_uuid *owner, pawl_error *err) {
    struct lane_rows rows = {.count = 0};
    pawl_status status =
        request->store->ops->view.lanes(request->store, (enum store_kind)kind, request->arena, &rows, err);
    *owner = uuid_nil();
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        if (rows.rows[i].lane == lane)
            *owner = rows.rows[i].owner;
    return status;
}

static pawl_status read_paused(struct request *request, pawl_str stream, bool *paused, pawl_error *err) {
    struct pause_rows rows;
    pawl_status status = request->store->ops->relay->pauses(request->store, request->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        *paused = *paused || (rows.rows[i].scope == PAUSE_STREAM && str_equal(rows.rows[i].name, stream));
    return status;
}

pawl_status op_stream_place(struct request *request, pawl_error *err) {
    struct settings settings;
    pawl_str stream = request_either(request, "name", "stream");
    pawl_read query = {.stream = stream, .backward = true, .limit = 1};
    struct event_list head = {.head = 0};
    bool paused = false;
    if (stream.len == 0)
        return error_set(err, PAWL_INVALID, "partitions", "the stream's name is empty: name a stream");
    pawl_status status = request->store->ops->core.settings_read(request->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    uint32_t partition = partition_of(stream, (uint32_t)settings.partition_count);
    int lane = (int)lane_of(partition, (uint32_t)settings.lane_count);
    struct cell cells[PLACE_COLUMNS] = {cell_text(stream), cell_int(partition), cell_int(lane),
                                        cell_int(settings.partition_count), cell_int(settings.lane_count)};
    for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++) {
        pawl_uuid owner;
        status = owner_of(request, kind, lane, &owner, err);
        cells[4 + kind] = cell_uuid(owner);
    }
    if (status == PAWL_OK)
        status = request->store->ops->events.events_read(request->store, &query, request->arena, &head, err);
    if (status == PAWL_OK)
        status = read_paused(request, stream, &paused, err);
    cells[PLACE_COLUMNS - 2] = cell_int(head.head);
    cells[PLACE_COLUMNS - 1] = cell_bool(paused);
    size_t shown = request_is_command(request) ? PLACE_COLUMNS - 2 : PLACE_COLUMNS;
    return status == PAWL_OK ? request_record(request, place_columns, shown, cells, err) : status;
}

/* ---- What is not in the database */

const struct column transport_columns[TRANSPORT_COLUMNS] = {{COLUMN(TEXT, "transport")},
                                                            {COLUMN(BOOL, "available")},
                                                            {COLUMN(TEXT, "schemes")},
                                                            {COLUMN(TEXT, "library")},
                                                            {COLUMN(BOOL, "receives"), .show = SHOW_WIDE},
                                                            {COLUMN(TEXT, "summary"), .drop = 1},
                                                            {COLUMN(TEXT, "reason"), .cut = true}};

pawl_status op_transport_list(struct request *request, pawl_error *err) {
    request_list(request, transport_columns, TRANSPORT_COLUMNS);
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

const struct column doctor_check_columns[DOCTOR_COLUMNS] = {{COLUMN(TEXT, "check")},
                                                            {COLUMN(TEXT, "severity")},
                                                            {COLUMN(TEXT, "stores")},
                                                            {COLUMN(TEXT, "why"), .cut = true},
                                                            {COLUMN(TEXT, "next"), .cut = true}};
const struct column finding_columns[DOCTOR_COLUMNS] = {
    {COLUMN(TEXT, "severity")},
    {COLUMN(TEXT, "check")},
    {COLUMN(TEXT, "found"), .cut = true},
    {COLUMN(TEXT, "why"), .show = SHOW_WIDE, .cut = true},
    {COLUMN(TEXT, "next"), .cut = true, .drop = 1},
};

static struct cell severity_cell(const struct doctor_check *check) {
    return cell_cstr(check->severity == DOCTOR_FAULT ? "fault" : "warning");
}

pawl_status op_doctor_check_list(struct request *request, pawl_error *err) {
    request_list(request, doctor_check_columns, DOCTOR_COLUMNS);
    for (size_t i = 0; i < doctor_checks_count; i++) {
        const struct doctor_check *check = &doctor_checks[i];
        request_row(request,
                    (struct cell[]){cell_cstr(check->name), severity_cell(check), cell_cstr(check->stores),
                                    cell_cstr(check->why), cell_cstr(check->next)});
    }
    return request_list_end(request, NULL, err);
}

void finding_cells(const struct doctor_finding *finding, struct cell cells[static DOCTOR_COLUMNS]) {
    const struct doctor_check *check = finding->check;
    cells[0] = severity_cell(check);
    cells[1] = cell_cstr(check->name);
    cells[2] = cell_text(finding->found);
    cells[3] = cell_cstr(check->why);
    cells[4] = cell_cstr(check->next);
}
