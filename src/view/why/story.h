/* The text that explains why a message waits and what to do. */
#ifndef VIEW_WHY_STORY_H
#define VIEW_WHY_STORY_H

#include "base/buf.h"
#include "view/output/output.h"
#include "view/why/pause.h"

/* Appends the explanation to text, and what to do to next; both are safe for a terminal. */
void why_story(const struct why *why, const struct why_pause *pause, struct buf *text, struct buf *next);

/* Appends what is safe for a terminal, including names and errors that others wrote. */
void why_tell(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A time with its age, "2026-01-02T03:04:05Z (3m ago)", in the block of the caller. */
enum { WHY_MOMENT_BYTES = 24 + OUTPUT_AGE_BYTES };
#define MOMENT(wall_ms, now_ms) why_moment((wall_ms), (now_ms), (char[WHY_MOMENT_BYTES]){0})
char *why_moment(int64_t wall_ms, int64_t now_ms, char text[static WHY_MOMENT_BYTES]);

#endif
