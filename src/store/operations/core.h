/* The core operations: coordination that every store has (docs/protocol.md). Included where OPERATION(name,
 * parameters after the store) is defined. */

OPERATION(clock_read, int64_t *now_ms, pawl_error *err)

OPERATION(instance_register, const struct instance_new *in, struct instance_grant *out, pawl_error *err)
/* processed: how much ended with the instance so far; -1 = left as it is. */
OPERATION(heartbeat, pawl_uuid instance, int64_t processed, struct beat_result *out, pawl_error *err)
/* Gives back, without an attempt, what the store has granted to the instance and its holder does not know
 * of: an answer that was lost, a call that was carried out twice, a report that a failover has undone. */
OPERATION(grants_settle, const struct grants_settle *in, struct grants_settled *out, pawl_error *err)
OPERATION(instance_deregister, pawl_uuid instance, pawl_error *err)
OPERATION(instance_evict, pawl_uuid instance, pawl_error *err)
/* Takes the liveness lock for as long as this store stays open; PAWL_OK and *held false where there is
 * none. */
OPERATION(liveness_hold, pawl_uuid instance, bool *held, pawl_error *err)
OPERATION(peers_look, pawl_uuid instance, struct peers_look *out, pawl_error *err)
/* Wants to be woken (store_waker_open) when messages of these kinds are put, for PAWL_WAIT_MS or until
 * wait_end. *late: a put that is running may not have seen the wish: poll again soon. After
 * it, poll once: what was put before it wakes no worker. */
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

OPERATION(maintain, const struct maintain_in *in, struct maintain_result *out, pawl_error *err)
/* Removes history rows by seq, after they were archived. */
OPERATION(history_remove, const struct dead_ref *refs, size_t count, int64_t *removed, pawl_error *err)
OPERATION(settings_change, const struct settings_change *in, pawl_error *err)
OPERATION(settings_read, struct settings *out, pawl_error *err)
/* For a restored database: every token granted before is older than every token granted after. */
OPERATION(epoch_raise, int64_t *epoch, pawl_error *err)
/* Adds what a worker has counted since it last did to what all workers have. Repeated, it counts twice:
 * an unknown outcome is let be. */
OPERATION(rollups_add, const struct rollup_cell *cells, size_t count, pawl_error *err)
