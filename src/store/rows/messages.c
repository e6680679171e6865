/* The shapes of messages, and of what is asked about them. */
#include "store/check/place.h"
#include "store/rows/shapes.h"

SHAPE(message_new, pawl_outgoing, M(stream), M(topic), M(type), JSON(payload), JSON(headers),
      M(correlation_id), M(causation_id), M(traceparent));
const struct text_member message_texts[] = {
    {{"stream", TEXT_STREAM, false}, MEMBER(pawl_outgoing, stream)},
    {{"topic", TEXT_TOPIC, false}, MEMBER(pawl_outgoing, topic)},
    {{"type", TEXT_TYPE, true}, MEMBER(pawl_outgoing, type)},
    {{"traceparent", TEXT_NAME, false}, MEMBER(pawl_outgoing, traceparent)},
};
const size_t message_text_count = sizeof message_texts / sizeof *message_texts;

SHAPE(item, struct item, M(token), M(lease_until_ms), M(seq), SMALL(kind), M(lane), M(partition), M(id),
      M(stream), M(topic), M(type), M(payload), M(headers), M(correlation_id), M(causation_id),
      M(traceparent), M(consumer), M(put_ms), M(attempt), M(deaths), M(out_of_order), M(suspect));
/* As a view shows it. */
SHAPE_WITHOUT(item_seen, struct item, item, 1);
/* What a table of messages keeps in columns of the same names: {{message}} without kind and lane. */
enum { ITEM_GRANT = 5, ITEM_STATE = 4 }; /* members before and after those */
const struct row_shape message_shape = {item_members + ITEM_GRANT,
                                        sizeof item_members / sizeof *item_members - ITEM_GRANT - ITEM_STATE,
                                        sizeof(struct item)};

pawl_outgoing message_again(const struct item *item) {
    return (pawl_outgoing){.id = item->id,
                           .stream = item->stream,
                           .topic = item->topic,
                           .type = item->type,
                           .payload = item->payload,
                           .headers = item->headers,
                           .correlation_id = item->correlation_id,
                           .causation_id = item->causation_id,
                           .traceparent = item->traceparent};
}

/* What a view adds to an item. */
SHAPE(message_view, struct message_row, M(state), M(claimed_by), M(attempts), M(scheduled_ms), M(reason),
      M(error), M(fingerprint), M(ended_ms));
SHAPE(why, struct why, M(now_ms), M(row.item.seq), M(cause), M(instance), M(until_ms), M(blocker_id),
      M(blocker_seq), M(blocker_cause), M(many_ahead), M(locked), M(locked_pid), M(locked_by),
      M(locked_since_ms));
SHAPE(message_filter, struct message_filter, SMALL(kind), M(state), M(stream), M(type), M(topic),
      M(fingerprint), M(lane), M(after_seq), M(before_ms), M(limit), M(scan_max));
SHAPE(kind_counts, struct kind_counts, M(put), M(done), M(failed), M(dead), M(aside), M(stale), M(duplicate),
      M(redriven), M(discarded), M(lanes_free), M(claims_active), M(claims_overdue), M(leased),
      M(oldest_ready_ms), M(next_due_ms));
/* What operations add up. */
SHAPE_WITHOUT(tally, struct kind_counts, kind_counts, 6);
SHAPE(dead_group, struct dead_group, M(fingerprint), M(count), M(first_ms), M(last_ms), M(sample_error));
SHAPE(dead_ref, struct dead_ref, SMALL(kind), M(seq));
SHAPE(complete_item, struct complete_item, M(ref.token), M(ref.id), M(status));
SHAPE(release_item, struct release_item, M(ref.token), M(ref.id), M(delay_ms), M(handler));
SHAPE(item_ref, struct item_ref, M(token), M(id));
SHAPE(refused, struct refused_row, M(number), M(reason), M(consumer), M(topic), M(message_id), M(detail),
      M(payload), M(received_ms));
SHAPE(malformed, struct malformed, M(message_id), M(detail), M(payload));
SHAPE(pause, struct pause_row, SMALL(scope), M(name), M(reason), M(actor), M(since_ms));
SHAPE_WITHOUT(pause_new, struct pause_row, pause, 1);
SHAPE(attempt, struct attempt_row, M(kind), M(number), M(outcome), M(started_ms), M(finished_ms), M(instance),
      M(error));
