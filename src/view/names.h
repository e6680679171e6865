/* The words for enum values in output: the same everywhere. */
#ifndef VIEW_NAMES_H
#define VIEW_NAMES_H

#include "store/store.h"

/* In the order of enum job_state: for a choice, and in a sentence. */
#define RUN_STATES "running|consolidating|nested|repair|completed|failed|cancelled"
#define JOB_STATES "ready|running|later|waiting|dead"

extern const char *const kind_names[KIND_COUNT + 1];
extern const char *const job_states[JOB_STATE_LAST + 1];
extern const char *const state_names[STATE_DONE + 1];
extern const char *const policy_names[POLICY_PARK + 1];
extern const char *const epoch_causes[EPOCH_CAUSE_LAST + 1];
extern const char *const cause_names[WHY_CANCELLED + 1];

const char *kind_name(enum store_kind kind);
const char *answer_name(enum store_answer answer);
const char *epoch_cause_name(int cause); /* of enum epoch_cause */
const char *cause_name(enum why_cause cause);

/* The reason of a message that is aside or dead; NULL when it has none. */
const char *reason_name(enum message_state state, int reason);

#endif
