/* The in-memory store: the protocol as code. Opening, closing and its table of operations. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/model/alerts.h"
#include "store/model/batch.h"
#include "store/model/claim.h"
#include "store/model/dead.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/grants.h"
#include "store/model/instance.h"
#include "store/model/jobs.h"
#include "store/model/lane.h"
#include "store/model/log.h"
#include "store/model/maintain.h"
#include "store/model/put.h"
#include "store/model/relay.h"
#include "store/model/report.h"
#include "store/model/runs.h"
#include "store/model/view.h"

static void records_free(struct model *model) {
    while (model->seqs.count > 0) {
        struct record *record = model_table_each(&model->seqs, NULL)->thing;
        struct stream *stream = record->home;
        if (stream->hold != 0)
            model_hold_drop(model, stream);
        model_record_remove(model, record);
    }
}

static void tables_free(struct model *model) {
    while (model->tokens.count > 0)
        model_part_free(model, model_table_each(&model->tokens, NULL)->thing);
    while (model->dedupe.count > 0)
        model_dedupe_remove(model, model_table_each(&model->dedupe, NULL)->thing);
    const struct table *const plain[] = {&model->tombstones, &model->requests};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        for (struct node *node = model_table_each(plain[i], NULL), *next; node != NULL; node = next) {
            next = model_table_each(plain[i], node);
            free(node->thing);
        }
    }
    for (struct node *node = model_table_each(&model->receptors, NULL), *next; node != NULL; node = next) {
        struct receptor *receptor = node->thing;
        next = model_table_each(&model->receptors, node);
        model_receptor_remove(model, receptor);
    }
    for (struct node *node = model_table_each(&model->checkpoints, NULL), *next; node != NULL; node = next) {
        struct checkpoint *checkpoint = node->thing;
        next = model_table_each(&model->checkpoints, node);
        model_text_free(checkpoint->stream);
        model_text_free(checkpoint->perspective);
        model_text_free(checkpoint->error);
        free(checkpoint);
    }
}

static void model_close(struct store *store) {
    if (store == NULL)
        return;
    struct model *model = (struct model *)store;
    records_free(model);
    while (model->instance_count > 0)
        model_instance_bury(model, model->instances[0]);
    tables_free(model);
    model_events_free(model);
    struct table *const tables[] = {&model->ids,       &model->seqs,        &model->streams,
                                    &model->tokens,    &model->dedupe,      &model->requests,
                                    &model->receptors, &model->checkpoints, &model->tombstones};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        model_table_free(tables[i]);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        free(model->lanes[kind]);
    free(model->instances);
    model_jobs_free(model->jobs);
    model_runs_free(model->runs);
    (void)pthread_mutex_destroy(&model->lock);
    model_relay_free(model);
    model_alerts_free(model);
    free(model);
}

static const struct store_ops model_ops = {
    .core =
        {
            .clock_read = model_clock_read,
            .instance_register = model_instance_register,
            .heartbeat = model_heartbeat,
            .grants_settle = model_grants_settle,
            .instance_deregister = model_instance_deregister,
            .instance_evict = model_instance_evict,
            .liveness_hold = model_liveness_hold,
            .peers_look = model_peers_look,
            .wait_begin = model_wait_begin,
            .wait_end = model_wait_end,
            .wake = model_wake,
            .lanes_rebalance = model_lanes_rebalance,
            .messages_put = model_messages_put,
            .messages_claim = model_messages_claim,
            .messages_complete = model_messages_complete,
            .messages_fail = model_messages_fail,
            .messages_release = model_messages_release,
            .messages_renew = model_messages_renew,
            .batch_process = model_batch_process,
            .receptors_report = model_receptors_report,
            .checkpoints_report = model_checkpoints_report,
            .dead_redrive = model_dead_redrive,
            .dead_discard = model_dead_discard,
            .maintain = model_maintain,
            .history_remove = model_history_remove,
            .settings_change = model_settings_change,
            .settings_read = model_settings_read,
            .epoch_raise = model_epoch_raise,
            .rollups_add = model_rollups_add,
        },
    .view =
        {
            .counts = model_counts,
            .instances = model_instances,
            .lanes = model_lanes,
            .messages = model_messages,
            .message_find = model_message_find,
            .message_ids = model_message_ids,
            .dead_groups = model_dead_groups,
            .why = model_why,
            .checkpoint_get = model_checkpoint_get,
            .receptors = model_receptors,
            .check = model_check,
            .durability = model_durability,
            .problems = model_problems,
            .dump = model_dump,
            .rollups = model_rollups,
        },
    .relay = &model_relay_ops,
    .alerts = &model_alerts_ops,
    .events =
        {
            .events_append = model_events_append,
            .events_read = model_events_read,
            .events_stamp = model_events_stamp,
            .snapshot_put = model_snapshot_put,
            .snapshot_get = model_snapshot_get,
            .perspective_register = model_perspective_register,
            .perspective_backfill = model_perspective_backfill,
            .perspective_change = model_perspective_change,
            .perspective_reset = model_perspective_reset,
            .perspective_switch = model_perspective_switch,
            .sql_check = model_sql_check,
            .perspective_list = model_perspective_list,
            .perspective_defined = model_perspective_defined,
            .perspective_reached = model_perspective_reached,
            .perspective_apply = model_perspective_apply,
            .perspective_advance = model_perspective_advance,
            .checkpoints_claim = model_checkpoints_claim,
            .checkpoints_renew = model_checkpoints_renew,
            .checkpoint_events = model_checkpoint_events,
            .checkpoint_skip = model_checkpoint_skip,
            .checkpoints_list = model_checkpoints_list,
            .checkpoint_errors = model_checkpoint_errors,
            .receptor_register = model_receptor_register,
            .receptor_remove = model_event_receptor_remove,
            .receptor_list = model_receptor_list,
            .receptors_feed = model_receptors_feed,
        },
    .jobs = &model_jobs_ops,
    .runs = &model_runs_ops,
    .close = model_close,
};

/* One `name=number` of the address. */
static pawl_status option_read(pawl_str option, struct settings *settings, pawl_error *err) {
    const char *equals = memchr(option.ptr, '=', option.len);
    size_t name_len = equals != NULL ? (size_t)(equals - option.ptr) : option.len;
    pawl_str name = {option.ptr, name_len};
    pawl_str value = {option.ptr + name_len + (equals != NULL), option.len - name_len - (equals != NULL)};
    int64_t number = 0;
    bool partitions = str_equal(name, STR("partitions"));
    if (!partitions && !str_equal(name, STR("lanes")))
        return error_set(err, PAWL_INVALID, "store_open",
                         "'%.*s' is no option of model:; write model:?partitions=100&lanes=8", STR_ARG(name));
    if (!str_to_i64(value, 1, partitions ? PAWL_PARTITIONS_MAX : PAWL_LANES_MAX, &number))
        return error_set(err, PAWL_INVALID, "store_open", "model: %.*s='%.*s' is not a number from 1 to %d",
                         STR_ARG(name), STR_ARG(value), partitions ? PAWL_PARTITIONS_MAX : PAWL_LANES_MAX);
    *(partitions ? &settings->partition_count : &settings->lane_count) = (int)number;
    return PAWL_OK;
}

static pawl_status url_read(const char *url, struct settings *settings, pawl_error *err) {
    const char *rest = url + strlen("model:");
    if (*rest == '\0')
        return PAWL_OK;
    if (*rest != '?')
        return error_set(
            err, PAWL_INVALID, "store_open",
            "model: is kept in memory and has no path; write model: or model:?partitions=100&lanes=8");
    while (*rest != '\0') {
        rest++;
        size_t len = strcspn(rest, "&");
        pawl_status status = option_read((pawl_str){rest, len}, settings, err);
        if (status != PAWL_OK)
            return status;
        rest += len;
    }
    return PAWL_OK;
}

pawl_status model_open(const struct store_config *config, struct store **store, pawl_error *err) {
    struct settings settings = {
        .partition_count = PAWL_PARTITIONS_DEFAULT,
        .lane_count = PAWL_LANES_DEFAULT,
        .max_attempts = PAWL_ATTEMPTS_DEFAULT,
        .dead_policy = POLICY_SKIP,
        .epoch = 1,
        .instance_lease_ms = PAWL_INSTANCE_LEASE_MS_DEFAULT,
        .stale_ms = PAWL_STALE_MS_DEFAULT,
        .dedupe_ms = PAWL_DEDUPE_MS_DEFAULT,
    };
    pawl_status status = url_read(config->url, &settings, err);
    if (status != PAWL_OK)
        return status;
    if (settings.lane_count > settings.partition_count)
        return error_set(err, PAWL_INVALID, "store_open",
                         "%d lanes are more than %d partitions: some would be empty", settings.lane_count,
                         settings.partition_count);
    struct model *model = model_alloc(sizeof *model);
    if (pthread_mutex_init(&model->lock, NULL) != 0) {
        free(model);
        return error_set(err, PAWL_NO_MEMORY, "store_open", "no mutex for the model");
    }
    model->base.ops = &model_ops;
    model->base.dialect = "model";
    model->settings = settings;
    model->jobs = model_jobs_new();
    model->runs = model_runs_new();
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        model->lanes[kind] = model_alloc((size_t)settings.lane_count * sizeof(struct lane));
        for (int i = 0; i < settings.lane_count; i++) {
            model->lanes[kind][i].kind = (enum store_kind)kind;
            model->lanes[kind][i].number = i;
        }
    }
    *store = &model->base;
    return PAWL_OK;
}
