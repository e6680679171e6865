/* The history checker: instants, pages and fan-ins happen once. */
#include "sim/history/once.h"

#include <inttypes.h>

void history_instant(struct history *h, struct history_schedule *s, int64_t instant_ms,
                     enum store_answer answer) {
    int64_t at = (instant_ms - s->start_ms) / s->interval_ms;
    if (answer == ANSWER_DUPLICATE)
        return;
    if (at < 0 || at >= s->count || s->start_ms + at * s->interval_ms != instant_ms) {
        history_violated(h, "instant", "%" PRId64 " is no instant of its schedule", instant_ms);
        return;
    }
    if (s->decided[at])
        history_violated(h, "fired_twice", "instant %" PRId64 " of a schedule fired twice", at);
    s->decided[at] = true;
}

void history_schedule_end(struct history *h, const struct history_schedule *s) {
    for (int i = s->all ? 0 : s->count - 1; i < s->count; i++) {
        if (!s->decided[i])
            history_violated(h, "instant_lost", "instant %d of %d of a schedule never fired", i, s->count);
    }
}

void history_page(struct history *h, struct history_run_of_pages *r, const struct page_commit *in,
                  const struct page_result *out) {
    struct history_part *part = &r->part[in->ref.part];
    if (out->outcome != PAGE_ADVANCED && out->outcome != PAGE_FINISHED)
        return;
    if (in->ref.generation < part->generation ||
        (in->ref.generation == part->generation && in->ref.page != part->page))
        history_violated(h, "page_once",
                         "page %" PRId64 " of partition %d was committed, %" PRId64 " is next", in->ref.page,
                         in->ref.part, part->page);
    part->generation = in->ref.generation;
    part->page = in->ref.page + 1;
    part->stored += (int)in->count;
    part->state = out->outcome == PAGE_FINISHED ? PART_DONE : PART_ACTIVE;
    if (out->outcome == PAGE_FINISHED && part->stored != part->items)
        history_violated(h, "page_once", "partition %d ended with %d of %d items", in->ref.part, part->stored,
                         part->items);
}

void history_fan_in(struct history *h, struct history_run_of_pages *r, int round, int64_t job) {
    if (round < 1 || round >= HISTORY_ROUNDS_MAX || r->fan_job[round] == job)
        return;
    if (r->fan_job[round] != 0)
        history_violated(h, "fan_in_once", "run %" PRId64 " is consolidated by jobs %" PRId64 " and %" PRId64,
                         r->id, r->fan_job[round], job);
    r->fan_job[round] = job;
    for (int i = 0; i < r->parts; i++) {
        if (r->part[i].state != PART_DONE && !r->partial)
            history_violated(h, "fan_in_early", "run %" PRId64 " is consolidated before partition %d is done",
                             r->id, i);
    }
}

void history_run_seen(struct history *h, struct history_run_of_pages *r, const struct run_row *run,
                      const struct partition_list *parts) {
    for (size_t i = 0; i < parts->count; i++) {
        const struct partition_row *row = &parts->partitions[i];
        const struct history_part *part = &r->part[row->part];
        if (row->generation == part->generation && row->page < part->page)
            history_violated(h, "page_back", "partition %d of run %" PRId64 " is back at page %" PRId64,
                             row->part, r->id, row->page);
        if (part->state == PART_DONE && row->state != PART_DONE)
            history_violated(h, "page_back", "partition %d of run %" PRId64 " was done and is not", row->part,
                             r->id);
    }
    if (run->state == RUN_IS_CONSOLIDATING && run->round > 1 && r->fan_job[run->round - 1] == 0)
        history_violated(h, "fan_in_once", "run %" PRId64 " is in round %d", r->id, run->round);
}

void history_run_end(struct history *h, const struct history_run_of_pages *r, const struct run_row *run,
                     const struct stored_items *items) {
    bool over = run->state == RUN_IS_COMPLETED || run->state == RUN_IS_FAILED ||
                run->state == RUN_IS_CANCELLED;
    int wanted = 0;
    if (!over)
        history_violated(h, "run_ended", "run %" PRId64 " has not ended: state %d", r->id, (int)run->state);
    if (run->state == RUN_IS_COMPLETED && r->fans_done == 0)
        history_violated(h, "fan_in_once", "run %" PRId64 " is completed and was not consolidated", r->id);
    for (int i = 0; i < r->parts; i++)
        wanted += r->part[i].stored;
    if ((int)items->count != wanted)
        history_violated(h, "run_items", "run %" PRId64 " has %zu items, %d were committed", r->id,
                         items->count, wanted);
}
