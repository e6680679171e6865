/* The PostgreSQL store: opening, closing, and its tables of operations. */
#include <stdlib.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/postgres/calls.h"
#include "store/postgres/events/event_calls.h"
#include "store/postgres/jobs/jobs.h"
#include "store/postgres/runs/runs.h"

static void postgres_close(struct store *store) {
    if (store == NULL)
        return;
    struct postgres *self = postgres_of(store);
    if (!uuid_is_nil(self->alive) && self->conn != NULL) {
        /* Closing is not dying: peers need not wait until the server notices. When it fails they wait. */
        struct statement release = pg_statement_new(POSTGRES_Q_LIVENESS_RELEASE, NULL);
        self->alive = uuid_nil();
        if (pg_statement_run(self, "close", &release, EFFECT_READ, NULL) == PAWL_OK)
            pg_statement_clear(&release);
    }
    pg_connection_free(self);
    free(store);
}

static const struct store_ops postgres_ops = {
    .core =
        {
            .clock_read = postgres_clock_read,
            .instance_register = postgres_instance_register,
            .heartbeat = postgres_heartbeat,
            .grants_settle = postgres_grants_settle,
            .instance_deregister = postgres_instance_deregister,
            .instance_evict = postgres_instance_evict,
            .liveness_hold = postgres_liveness_hold,
            .peers_look = postgres_peers_look,
            .wait_begin = postgres_wait_begin,
            .wait_end = postgres_wait_end,
            .wake = postgres_wake,
            .lanes_rebalance = postgres_lanes_rebalance,
            .messages_put = postgres_messages_put,
            .messages_claim = postgres_messages_claim,
            .messages_complete = postgres_messages_complete,
            .messages_fail = postgres_messages_fail,
            .messages_release = postgres_messages_release,
            .messages_renew = postgres_messages_renew,
            .batch_process = postgres_batch_process,
            .receptors_report = postgres_receptors_report,
            .checkpoints_report = postgres_checkpoints_report,
            .dead_redrive = postgres_dead_redrive,
            .dead_discard = postgres_dead_discard,
            .maintain = postgres_maintain,
            .history_remove = postgres_history_remove,
            .settings_change = postgres_settings_change,
            .settings_read = postgres_settings_read,
            .epoch_raise = postgres_epoch_raise,
            .rollups_add = postgres_rollups_add,
        },
    .view =
        {
            .counts = postgres_counts,
            .instances = postgres_instances,
            .lanes = postgres_lanes,
            .messages = postgres_messages,
            .message_find = postgres_message_find,
            .message_ids = postgres_message_ids,
            .dead_groups = postgres_dead_groups,
            .why = postgres_why,
            .checkpoint_get = postgres_checkpoint_get,
            .receptors = postgres_receptors,
            .check = postgres_check,
            .durability = postgres_durability,
            .problems = postgres_problems,
            .dump = postgres_dump,
            .rollups = postgres_rollups,
        },
    .relay = &postgres_relay_ops,
    .alerts = &postgres_alerts_ops,
    .events =
        {
            .events_append = postgres_events_append,
            .events_read = postgres_events_read,
            .events_stamp = postgres_events_stamp,
            .snapshot_put = postgres_snapshot_put,
            .snapshot_get = postgres_snapshot_get,
            .perspective_register = postgres_perspective_register,
            .perspective_backfill = postgres_perspective_backfill,
            .perspective_change = postgres_perspective_change,
            .perspective_reset = postgres_perspective_reset,
            .perspective_switch = postgres_perspective_switch,
            .sql_check = postgres_sql_check,
            .perspective_list = postgres_perspective_list,
            .perspective_defined = postgres_perspective_defined,
            .perspective_reached = postgres_perspective_reached,
            .perspective_apply = postgres_perspective_apply,
            .perspective_advance = postgres_perspective_advance,
            .checkpoints_claim = postgres_checkpoints_claim,
            .checkpoints_renew = postgres_checkpoints_renew,
            .checkpoint_events = postgres_checkpoint_events,
            .checkpoint_skip = postgres_checkpoint_skip,
            .checkpoints_list = postgres_checkpoints_list,
            .checkpoint_errors = postgres_checkpoint_errors,
            .receptor_register = postgres_receptor_register,
            .receptor_remove = postgres_receptor_remove,
            .receptor_list = postgres_receptor_list,
            .receptors_feed = postgres_receptors_feed,
        },
    .jobs = &postgres_jobs_ops,
    .runs = &postgres_runs_ops,
    .close = postgres_close,
};

/* The schema must be of the version that this program was built with. */
static pawl_status version_check(struct postgres *self, pawl_error *err) {
    struct settings settings;
    pawl_status status = postgres_settings_read(&self->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    int known = (int)sql_postgres_migrations_count;
    if (settings.schema_version > known)
        return error_set(err, PAWL_CONFLICT, "store_open",
                         "the schema has version %d, this program knows up to %d: upgrade pawl",
                         settings.schema_version, known);
    if (settings.schema_version < known)
        return error_set(err, PAWL_CONFLICT, "store_open",
                         "the schema has version %d, this program needs %d: run `pawl migrate`",
                         settings.schema_version, known);
    return PAWL_OK;
}

pawl_status postgres_open(const struct store_config *config, struct store **store, pawl_error *err) {
    struct postgres *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "store_open", "no memory for a store");
    self->store = (struct store){.ops = &postgres_ops,
                                 .caps = {.notify = true, .many_writers = true, .sessions = true},
                                 .dialect = "postgres"};
    pawl_status status = pg_connection_init(self, config, "store_open", err);
    if (status == PAWL_OK)
        status = pg_connection_ready(self, "store_open", err);
    if (status == PAWL_OK && !config->allow_version_mismatch)
        status = version_check(self, err);
    if (status != PAWL_OK) {
        postgres_close(&self->store);
        return status;
    }
    self->store.caps.sessions = self->store.caps.notify = self->address.direct;
    self->store.caps.role = self->role[0] != '\0';
    *store = &self->store;
    return PAWL_OK;
}
