/* What the files of the history checker share. */
#ifndef SIM_HISTORY_INT_H
#define SIM_HISTORY_INT_H

#include "sim/history/history.h"

/* NULL: the message has no stream. */
struct history_stream *history_stream_of(struct history *history, const struct history_message *message);
bool history_grant_over(struct history *history, const struct history_message *message, int64_t now_ms);
void history_set_aside_behind(struct history *history, int message, int64_t token, int64_t now_ms);

#endif
