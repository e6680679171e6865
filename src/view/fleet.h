/* Output columns of instances and lanes. */
#ifndef VIEW_FLEET_H
#define VIEW_FLEET_H

#include "store/store.h"
#include "view/output/output.h"

enum { INSTANCE_COLUMNS = 20, LANE_COLUMNS = 10 };

/* Silent: its lease has ended, but it is not evicted yet. */
enum { INSTANCE_STANDINGS = 3 };
extern const char *const instance_standings[INSTANCE_STANDINGS];
int instance_standing(const struct instance_row *row, int64_t now_ms);
const char *instance_state_name(const struct instance_row *row, int64_t now_ms);

extern const struct column instance_columns[INSTANCE_COLUMNS];
void instance_cells(const struct instance_row *row, int64_t now_ms,
                    struct cell cells[static INSTANCE_COLUMNS]);

extern const struct column lane_columns[LANE_COLUMNS];
void lane_cells(const struct lane_row *row, const struct settings *settings,
                struct cell cells[static LANE_COLUMNS]);

#endif
