/* Output columns of actions, pauses, settings and groups of dead letters. */
#ifndef VIEW_NOTE_H
#define VIEW_NOTE_H

#include "store/store.h"
#include "view/output/output.h"

enum { PAUSE_COLUMNS = 5, ACTION_COLUMNS = 5, REFUSED_COLUMNS = 8, GROUP_COLUMNS = 6, SETTING_COLUMNS = 12 };

#define PAUSE_SCOPES "topic|stream|handler|queue|message" /* in the order of enum pause_scope */

extern const struct column pause_columns[PAUSE_COLUMNS];

extern const struct column action_columns[ACTION_COLUMNS];

extern const struct column refused_columns[REFUSED_COLUMNS];

extern const struct column group_columns[GROUP_COLUMNS];

extern const struct column setting_columns[SETTING_COLUMNS];

#endif
