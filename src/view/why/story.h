/* The text that explains why a message waits and what to do. */
#ifndef VIEW_WHY_STORY_H
#define VIEW_WHY_STORY_H

#include "base/buf.h"
#include "view/why/pause.h"

/* Appends the explanation to text, and what to do to next; both are safe for a terminal. */
void why_story(const struct why *why, const struct why_pause *pause, struct buf *text, struct buf *next);

/* A time with its age: "2026-01-02T03:04:05Z (3m ago)". */
void why_moment(struct buf *buf, int64_t wall_ms, int64_t now_ms);

#endif
