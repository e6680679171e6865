/* Parts of operations on events, perspectives and receptors that the fronts use in their own ways. */
#ifndef OPERATIONS_EVENTS_H
#define OPERATIONS_EVENTS_H

#include "operations/request.h"

enum { EVENT_ANSWER_COLUMNS = 2 };
extern const struct column perspective_answer_columns[EVENT_ANSWER_COLUMNS];
extern const struct column perspective_reset_columns[EVENT_ANSWER_COLUMNS];
extern const struct column receptor_answer_columns[EVENT_ANSWER_COLUMNS];

/* Gives positions to events that have none yet. */
PAWL_MUSTCHECK pawl_status events_stamp(struct request *request, pawl_error *err);

/* How the receptors of a message or an event have ended. */
PAWL_MUSTCHECK pawl_status receptor_notes(struct request *request, pawl_uuid id, pawl_error *err);

#endif
