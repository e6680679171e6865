/* The paragraph that says what a message is waiting for. */
#ifndef CLI_WHY_STORY_H
#define CLI_WHY_STORY_H

#include "base/buf.h"
#include "store/store.h"

/* Appends what holds and why to text, and what to do to next; both are safe for a terminal. */
void why_story(const struct why *why, struct buf *text, struct buf *next);

#endif
