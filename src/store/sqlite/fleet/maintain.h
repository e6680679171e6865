/* Housekeeping, settings and the clock. */
#ifndef STORE_SQLITE_FLEET_MAINTAIN_H
#define STORE_SQLITE_FLEET_MAINTAIN_H

#include "store/store.h"

/* core.h */
pawl_status sqlite_clock_read(struct store *store, int64_t *now_ms, pawl_error *err);
pawl_status sqlite_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                            pawl_error *err);
pawl_status sqlite_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                  int64_t *removed, pawl_error *err);
pawl_status sqlite_settings_change(struct store *store, const struct settings_change *in, pawl_error *err);
pawl_status sqlite_settings_read(struct store *store, struct settings *out, pawl_error *err);
pawl_status sqlite_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err);

#endif
