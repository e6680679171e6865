/* The store's clock on SQLite, and handling a new boot or a copied file. */
#include "store/sqlite/file/clock.h"

#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "store/sqlite/fleet/instance.h"

int64_t clock_now(int64_t test_now_ms, int64_t clock_base_ms) {
    return test_now_ms != 0 ? test_now_ms : clock_base_ms + clock_boot_ms();
}

/* What has changed since the settings were written. */
struct identity {
    pawl_uuid boot_id;
    char file_id[FILE_ID_BYTES];
    bool other_boot, other_file;
    int64_t last_ms;
};

static pawl_status read_identity(struct operation *op, struct identity *identity) {
    struct statement s = statement_begin(op, SQLITE_Q_SETTINGS_IDENTITY);
    if (statement_next(&s)) {
        identity->other_boot = !uuid_equal(column_uuid(&s, 0), identity->boot_id);
        identity->other_file = !str_equal_cstr(column_borrow(&s, 1), identity->file_id);
        identity->last_ms = column_int(&s, 2);
    }
    return statement_end(&s);
}

static pawl_status start_clock(struct operation *op, const struct identity *identity) {
    int64_t now_ms = clock_wall_ms();
    if (now_ms <= identity->last_ms)
        now_ms = identity->last_ms + 1;
    pawl_status status =
        statement_run(SQL(op, SQLITE_Q_SETTINGS_CLOCK, now_ms - clock_boot_ms(), identity->boot_id));
    bool found = false;
    return status != PAWL_OK ? status : operation_read_settings(op, &found);
}

static pawl_status start_epoch(struct operation *op, const struct identity *identity) {
    pawl_status status = statement_run(SQL(op, SQLITE_Q_SETTINGS_FILE, str_from(identity->file_id)));
    return status != PAWL_OK ? status : operation_raise_epoch(op, op->settings.epoch + 1, EPOCH_COPY);
}

static pawl_status settle(struct operation *op, struct identity *identity) {
    pawl_status status = read_identity(op, identity);
    if (status != PAWL_OK || !op->writes)
        return status;
    if (identity->other_boot)
        status = start_clock(op, identity);
    if (status == PAWL_OK && identity->other_file)
        status = start_epoch(op, identity);
    if (status == PAWL_OK && (identity->other_boot || identity->other_file))
        status = instance_expel_all(op);
    return status;
}

pawl_status clock_settle(struct sqlite_store *store, pawl_error *err) {
    struct identity identity = {0};
    pawl_status status = clock_boot_id(&identity.boot_id, err);
    if (status == PAWL_OK)
        status = connection_file_id(store, identity.file_id, err);
    /* Most of the time nothing has changed: a read is enough to know. */
    for (int mode = OPERATION_READ; mode <= OPERATION_WRITE && status == PAWL_OK; mode++) {
        struct operation op =
            operation_begin(&store->base, (enum operation_mode)mode, "sqlite_open", PAWL_OK, err);
        status = operation_end(&op, settle(&op, &identity));
        if (!identity.other_boot && !identity.other_file)
            break;
    }
    return status;
}
