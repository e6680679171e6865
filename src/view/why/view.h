/* The output record of why a message waits, for commands and for the API. */
#ifndef VIEW_WHY_VIEW_H
#define VIEW_WHY_VIEW_H

#include "base/buf.h"
#include "view/output/output.h"
#include "view/why/pause.h"

enum { WHY_COLUMNS = 21 };

extern const struct column why_view_columns[WHY_COLUMNS];
/* texts: what why_story appended; borrowed by the cells. */
void why_cells(const struct why *why, const struct why_pause *pause, const struct buf texts[static 2],
               struct cell cells[static WHY_COLUMNS]);

#endif
