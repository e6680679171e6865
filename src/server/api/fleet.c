/* Routes of the fleet: instances, lanes, duties, streams. */

#include "operations/fleet.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/fleet.h"
#include "view/output/row.h"
#include "view/stream.h"

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
               "At most this many messages of each state are read; the counts cover only these.")}};
static const struct field stream_fields[] = {FIELD_ROW_NAME("The stream.")};

static const struct route routes[] = {
    {READS("/v1/instances", "listInstances"), .tag = "fleet",
     .summary = "List the instances: one per running worker process", COLUMNS(instance_columns),
     .operation = op_instance_list},
    {ACTS(METHOD_POST, "/v1/instances/{id}/evict", "evictInstance"), .tag = "fleet",
     .summary = "Evict an instance: take all its work away", FIELDS(instance_fields), .shape = ANSWER_RECORD,
     COLUMNS(evicted_columns), .operation = op_instance_evict},
    {READS("/v1/partitions", "listPartitions"), .tag = "fleet",
     .summary = "List the lanes, how many partitions each has, and who owns it", FIELDS(kind_fields),
     COLUMNS(lane_columns), .operation = op_lane_list},
    {READS("/v1/duties", "listDuties"), .tag = "fleet",
     .summary = "List the duties, each held by one instance at a time, and their holders",
     COLUMNS(duty_columns), .run = list_duties},
    {READS("/v1/streams", "listStreams"), .tag = "fleet",
     .summary = "List the streams with waiting messages, and the first message of each",
     FIELDS(waiting_fields), COLUMNS(stream_columns), .run = list_streams},
    {READS("/v1/streams/{name}", "readStreamPlace"), .tag = "fleet",
     .summary = "Which lane a stream is in, who owns it, and whether it is paused", FIELDS(stream_fields),
     .shape = ANSWER_RECORD, COLUMNS(place_columns), .operation = op_stream_place},
};

const struct route_table fleet_routes = ROUTE_TABLE(routes);
