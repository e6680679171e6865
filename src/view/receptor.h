/* Output columns of receptors on events, and of receptor results for one message or event. */
#ifndef VIEW_RECEPTOR_H
#define VIEW_RECEPTOR_H

#include "view/output/output.h"
#include "work/doctor/fleet_facts.h"

enum { RECEPTOR_COLUMNS = 8, RECEPTOR_NOTE_COLUMNS = 6 };

extern const struct column receptor_columns[RECEPTOR_COLUMNS];
void receptor_cells(struct arena *arena, const struct fleet_receptor *row,
                    struct cell cells[static RECEPTOR_COLUMNS]);

extern const struct column receptor_note_columns[RECEPTOR_NOTE_COLUMNS];
void receptor_note_cells(const struct receptor_row *row, struct cell cells[static RECEPTOR_NOTE_COLUMNS]);

#endif
