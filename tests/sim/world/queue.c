/* What happens next: a binary heap of (virtual time, sequence). */
#include "sim/world/queue.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/world/alloc.h"

static bool before(const struct occasion *a, const struct occasion *b) {
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->sequence < b->sequence;
}

void queue_push(struct queue *queue, struct occasion occasion) {
    queue->items = sim_grow(queue->items, &queue->capacity, queue->count + 1, sizeof(*queue->items));
    occasion.sequence = ++queue->sequence;
    size_t at = queue->count++;
    while (at > 0 && before(&occasion, &queue->items[(at - 1) / 2])) {
        queue->items[at] = queue->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->items[at] = occasion;
}

struct occasion queue_pop(struct queue *queue) {
    assert(queue->count > 0);
    struct occasion first = queue->items[0];
    struct occasion last = queue->items[--queue->count];
    size_t at = 0;
    while (at * 2 + 1 < queue->count) {
        size_t child = at * 2 + 1;
        if (child + 1 < queue->count && before(&queue->items[child + 1], &queue->items[child]))
            child++;
        if (!before(&queue->items[child], &last))
            break;
        queue->items[at] = queue->items[child];
        at = child;
    }
    if (queue->count > 0)
        queue->items[at] = last;
    return first;
}

void queue_free(struct queue *queue) {
    free(queue->items);
    *queue = (struct queue){0};
}
