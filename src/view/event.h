/* Output columns of events, perspectives and their errors. */
#ifndef VIEW_EVENT_H
#define VIEW_EVENT_H

#include "base/arena.h"
#include "store/store.h"
#include "view/output/output.h"

enum { EVENT_COLUMNS = 11, PERSPECTIVE_COLUMNS = 22, CHECKPOINT_ERROR_COLUMNS = 4 };

const char *perspective_state_name(enum perspective_state state);

/* As they are written in a file or on a command line, with blanks between them. */
pawl_str patterns_text(struct arena *arena, const struct event_pattern *patterns, size_t count);

/* perspective_cells: eta_ms < 0 is not known. */
extern const struct column event_columns[EVENT_COLUMNS];

extern const struct column perspective_columns[PERSPECTIVE_COLUMNS];
void perspective_cells(struct arena *arena, const struct perspective_row *row, int64_t eta_ms,
                       struct cell cells[static PERSPECTIVE_COLUMNS]);

extern const struct column checkpoint_error_columns[CHECKPOINT_ERROR_COLUMNS];

#endif
