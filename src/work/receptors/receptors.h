/* Receptors: several handlers of one inbox message, each run, recorded and retried independently. */
#ifndef WORK_RECEPTORS_RECEPTORS_H
#define WORK_RECEPTORS_RECEPTORS_H

#include "handler/table.h"
#include "process/launcher.h"
#include "store/store.h"

struct receptors;

/* Handles the receptors and endpoints of the table, which must outlive it; *receptors stays NULL when there
 * are none. Texts of the store's config are borrowed. */
PAWL_MUSTCHECK pawl_status receptors_create(const struct store_config *store, pawl_str service,
                                            struct handler_table *table, struct receptors **receptors,
                                            pawl_error *err);
void receptors_free(struct receptors *receptors); /* takes NULL */

/* The launcher that starts their programs. */
struct launcher *receptors_launcher(struct receptors *receptors);

#endif
