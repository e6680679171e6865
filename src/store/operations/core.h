/* The core operations: coordination of messages and instances (docs/protocol.md). Included where
 * OPERATION(name, parameters after the store) is defined. */

OPERATION(clock_read, int64_t *now_ms, pawl_error *err)

OPERATION(instance_register, const struct instance_new *in, struct instance_grant *out, pawl_error *err)
/* processed: how much the instance has finished so far; -1 = unchanged. */
OPERATION(heartbeat, pawl_uuid instance, int64_t processed, struct beat_result *out, pawl_error *err)
/* Whether all slots of the instance are busy: as long as not all are full, the lanes are shared among those
 * that are not. Its lanes move with the next heartbeats. */
OPERATION(instance_full, pawl_uuid instance, bool full, pawl_error *err)
/* Gives back, without counting an attempt, what the store has granted to the instance but the instance does
 * not know of: a lost answer, a call carried out twice, a report undone by a failover. */
OPERATION(grants_settle, const struct grants_settle *in, struct grants_settled *out, pawl_error *err)
OPERATION(instance_deregister, pawl_uuid instance, pawl_error *err)
OPERATION(instance_evict, pawl_uuid instance, pawl_error *err)
/* Takes the liveness lock for as long as this store stays open; PAWL_OK with *held false if there is none. */
OPERATION(liveness_hold, pawl_uuid instance, bool *held, pawl_error *err)
OPERATION(peers_look, pawl_uuid instance, struct peers_look *out, pawl_error *err)
/* Asks to be woken (store_waker_open) when messages of these kinds are put, for PAWL_WAIT_MS or until
 * wait_end. *late: a running put may not have seen the request, so poll again soon. Poll once after the call:
 * what was put earlier wakes no worker. */
OPERATION(wait_begin, pawl_uuid instance, int kinds, bool *late, pawl_error *err)
OPERATION(wait_end, pawl_uuid instance, pawl_error *err)
/* Wakes all listeners, whether they wait or not. */
OPERATION(wake, pawl_error *err)
OPERATION(lanes_rebalance, pawl_uuid instance, enum store_kind kind, struct beat_result *out, pawl_error *err)

OPERATION(messages_put, const struct messages_put *in, struct arena *arena, struct put_result *out,
          pawl_error *err)
OPERATION(messages_claim, const struct messages_claim *in, struct arena *arena, struct item_list *out,
          pawl_error *err)
OPERATION(messages_complete, const struct messages_complete *in, struct arena *arena, struct answer_list *out,
          pawl_error *err)
OPERATION(messages_fail, const struct messages_fail *in, struct arena *arena, struct answer_list *out,
          pawl_error *err)
OPERATION(messages_release, const struct messages_release *in, struct arena *arena, struct answer_list *out,
          pawl_error *err)
OPERATION(messages_renew, const struct messages_renew *in, struct arena *arena, struct answer_list *out,
          pawl_error *err)
OPERATION(batch_process, const struct work_batch *in, struct arena *arena, struct work_batch_result *out,
          pawl_error *err)

OPERATION(receptors_report, const struct receptor_report *reports, size_t count, struct arena *arena,
          struct answer_list *out, pawl_error *err)
/* NOT_FOUND: there is no such checkpoint. STALE: it is not granted to the instance under that token. */
OPERATION(checkpoints_report, const struct checkpoints_report *in, struct arena *arena,
          struct answer_list *out, pawl_error *err)

OPERATION(dead_redrive, const struct dead_ref *refs, size_t count, struct arena *arena,
          struct answer_list *out, pawl_error *err)
OPERATION(dead_discard, const struct dead_ref *refs, size_t count, struct arena *arena,
          struct answer_list *out, pawl_error *err)

/* The payload of a dead letter is replaced; NOT_FOUND: there is no such letter. */
OPERATION(dead_edit, const struct dead_ref *ref, pawl_str payload, enum store_answer *answer, pawl_error *err)

OPERATION(maintain, const struct maintain_in *in, struct maintain_result *out, pawl_error *err)
/* Removes history rows by seq, after they were archived. */
OPERATION(history_remove, const struct dead_ref *refs, size_t count, int64_t *removed, pawl_error *err)
OPERATION(settings_change, const struct settings_change *in, pawl_error *err)
OPERATION(settings_read, struct settings *out, pawl_error *err)
/* For a restored database: every token granted from now on is higher than every earlier one. */
OPERATION(epoch_raise, int64_t *epoch, pawl_error *err)
/* Adds what a worker has counted since the last call. A repeated call counts twice, so do not repeat one
 * whose outcome is unknown. */
OPERATION(rollups_add, const struct rollups_new *in, pawl_error *err)
