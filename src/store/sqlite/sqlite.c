/* The store on SQLite: opening it, and its table of operations. */
#include "store/sqlite/alerts/alerts.h"
#include "store/sqlite/claims/claim.h"
#include "store/sqlite/claims/grants.h"
#include "store/sqlite/claims/log.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/event_calls.h"
#include "store/sqlite/file/clock.h"
#include "store/sqlite/file/memory.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/file/waker.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/fleet/lane.h"
#include "store/sqlite/fleet/liveness.h"
#include "store/sqlite/fleet/maintain.h"
#include "store/sqlite/fleet/relay.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/messages/batch.h"
#include "store/sqlite/messages/dead.h"
#include "store/sqlite/messages/put.h"
#include "store/sqlite/messages/view.h"
#include "store/sqlite/runs/runs.h"

static void sqlite_close(struct store *store) { connection_close(sqlite_store_of(store)); }

static const struct store_ops sqlite_ops = {
    .core =
        {
            .clock_read = sqlite_clock_read,
            .instance_register = sqlite_instance_register,
            .heartbeat = sqlite_heartbeat,
            .grants_settle = sqlite_grants_settle,
            .instance_deregister = sqlite_instance_deregister,
            .instance_evict = sqlite_instance_evict,
            .liveness_hold = sqlite_liveness_hold,
            .peers_look = sqlite_peers_look,
            .wait_begin = sqlite_wait_begin,
            .wait_end = sqlite_wait_end,
            .wake = sqlite_wake,
            .lanes_rebalance = sqlite_lanes_rebalance,
            .messages_put = sqlite_messages_put,
            .messages_claim = sqlite_messages_claim,
            .messages_complete = sqlite_messages_complete,
            .messages_fail = sqlite_messages_fail,
            .messages_release = sqlite_messages_release,
            .messages_renew = sqlite_messages_renew,
            .batch_process = sqlite_batch_process,
            .receptors_report = sqlite_receptors_report,
            .checkpoints_report = sqlite_checkpoints_report,
            .dead_redrive = sqlite_dead_redrive,
            .dead_discard = sqlite_dead_discard,
            .maintain = sqlite_maintain,
            .history_remove = sqlite_history_remove,
            .settings_change = sqlite_settings_change,
            .settings_read = sqlite_settings_read,
            .epoch_raise = sqlite_epoch_raise,
            .rollups_add = sqlite_rollups_add,
        },
    .view =
        {
            .counts = sqlite_counts,
            .instances = sqlite_instances,
            .lanes = sqlite_lanes,
            .messages = sqlite_messages,
            .message_find = sqlite_message_find,
            .message_ids = sqlite_message_ids,
            .dead_groups = sqlite_dead_groups,
            .why = sqlite_why,
            .checkpoint_get = sqlite_checkpoint_get,
            .receptors = sqlite_receptors,
            .check = sqlite_check,
            .durability = sqlite_durability,
            .problems = sqlite_problems,
            .dump = sqlite_dump,
            .rollups = sqlite_rollups,
        },
    .relay = &sqlite_relay_ops,
    .alerts = &sqlite_alerts_ops,
    .events =
        {
            .events_append = sqlite_events_append,
            .events_read = sqlite_events_read,
            .events_stamp = sqlite_events_stamp,
            .snapshot_put = sqlite_snapshot_put,
            .snapshot_get = sqlite_snapshot_get,
            .perspective_register = sqlite_perspective_register,
            .perspective_backfill = sqlite_perspective_backfill,
            .perspective_change = sqlite_perspective_change,
            .perspective_reset = sqlite_perspective_reset,
            .perspective_switch = sqlite_perspective_switch,
            .sql_check = sqlite_sql_check,
            .perspective_list = sqlite_perspective_list,
            .perspective_defined = sqlite_perspective_defined,
            .perspective_reached = sqlite_perspective_reached,
            .perspective_apply = sqlite_perspective_apply,
            .perspective_advance = sqlite_perspective_advance,
            .checkpoints_claim = sqlite_checkpoints_claim,
            .checkpoints_renew = sqlite_checkpoints_renew,
            .checkpoint_events = sqlite_checkpoint_events,
            .checkpoint_skip = sqlite_checkpoint_skip,
            .checkpoints_list = sqlite_checkpoints_list,
            .checkpoint_errors = sqlite_checkpoint_errors,
            .receptor_register = sqlite_receptor_register,
            .receptor_remove = sqlite_receptor_remove,
            .receptor_list = sqlite_receptor_list,
            .receptors_feed = sqlite_receptors_feed,
        },
    .jobs = &sqlite_jobs_ops,
    .runs = &sqlite_runs_ops,
    .close = sqlite_close,
};

static struct store sqlite_base(bool sessions) {
    return (struct store){
        .ops = &sqlite_ops,
        .caps = {.notify = false, .many_writers = false, .sessions = sessions},
        .dialect = "sqlite",
    };
}

pawl_status sqlite_memory_open(const struct migrate_config *migrate, const int64_t *clock_ms,
                               struct store **store, pawl_error *err) {
    const struct store_config config = {.url = ":memory:", .durability = DURABILITY_NORMAL};
    struct sqlite_store *self = NULL;
    struct migrate_result migrated;
    pawl_status status = connection_open(&config, CONNECTION_MEMORY, &self, err);
    if (status != PAWL_OK)
        return status;
    self->base = sqlite_base(false);
    self->clock_ms = clock_ms;
    status = migrate_run(self, migrate, &migrated, err);
    if (status == PAWL_OK)
        *store = &self->base;
    else
        connection_close(self);
    return status;
}

pawl_status sqlite_open(const struct store_config *config, struct store **store, pawl_error *err) {
    struct sqlite_store *self = NULL;
    pawl_status status = connection_open(config, CONNECTION_USE, &self, err);
    if (status != PAWL_OK)
        return status;
    self->base = sqlite_base(true);
    if (!config->allow_version_mismatch)
        status = migrate_check(self, err);
    if (status == PAWL_OK && !config->allow_version_mismatch)
        status = clock_settle(self, err);
    if (status == PAWL_OK)
        *store = &self->base;
    else
        connection_close(self);
    return status;
}
