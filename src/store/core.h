/* The core interface of the seam: coordination operations that every store has (docs/protocol.md). */
#ifndef STORE_CORE_H
#define STORE_CORE_H

#include "store/rollups.h"
#include "store/types.h"

struct store;

/* Every slot is filled by every store. Memory of results comes from the arena; outputs are written only on
 * PAWL_OK. Each call is its own transaction; statuses are those of pawl.h. */
struct store_core_ops {
    pawl_status (*clock_read)(struct store *store, int64_t *now_ms, pawl_error *err);

    pawl_status (*instance_register)(struct store *store, const struct instance_new *in,
                                     struct instance_grant *out, pawl_error *err);
    /* processed: how much ended with the instance so far; -1 = left as it is. */
    pawl_status (*heartbeat)(struct store *store, pawl_uuid instance, int64_t processed,
                             struct beat_result *out, pawl_error *err);
    /* Gives back, without an attempt, what the store has granted to the instance and its holder does not know
     * of: an answer that was lost, a call that was carried out twice, a report that a failover has undone. */
    pawl_status (*grants_settle)(struct store *store, const struct grants_settle *in,
                                 struct grants_settled *out, pawl_error *err);
    pawl_status (*instance_deregister)(struct store *store, pawl_uuid instance, pawl_error *err);
    pawl_status (*instance_evict)(struct store *store, pawl_uuid instance, pawl_error *err);
    /* Takes the liveness lock for as long as this store stays open; PAWL_OK and *held false where there is
     * none. */
    pawl_status (*liveness_hold)(struct store *store, pawl_uuid instance, bool *held, pawl_error *err);
    pawl_status (*peers_look)(struct store *store, pawl_uuid instance, struct peers_look *out,
                              pawl_error *err);
    /* Wants to be woken (store_waker_open) when messages of these kinds are put, for PAWL_WAIT_MS or until
     * wait_end. *late: a put that is running may not have seen the wish: poll again soon. After
     * it, poll once: what was put before it wakes no worker. */
    pawl_status (*wait_begin)(struct store *store, pawl_uuid instance, int kinds, bool *late,
                              pawl_error *err);
    pawl_status (*wait_end)(struct store *store, pawl_uuid instance, pawl_error *err);
    /* Wakes all listeners, whether they wait or not. */
    pawl_status (*wake)(struct store *store, pawl_error *err);
    pawl_status (*lanes_rebalance)(struct store *store, pawl_uuid instance, enum store_kind kind,
                                   struct beat_result *out, pawl_error *err);

    pawl_status (*messages_put)(struct store *store, const struct messages_put *in, struct arena *arena,
                                struct put_result *out, pawl_error *err);
    pawl_status (*messages_claim)(struct store *store, const struct messages_claim *in, struct arena *arena,
                                  struct item_list *out, pawl_error *err);
    pawl_status (*messages_complete)(struct store *store, const struct messages_complete *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err);
    pawl_status (*messages_fail)(struct store *store, const struct messages_fail *in, struct arena *arena,
                                 struct answer_list *out, pawl_error *err);
    pawl_status (*messages_release)(struct store *store, const struct messages_release *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err);
    pawl_status (*messages_renew)(struct store *store, const struct messages_renew *in, struct arena *arena,
                                  struct answer_list *out, pawl_error *err);
    pawl_status (*batch_process)(struct store *store, const struct work_batch *in, struct arena *arena,
                                 struct work_batch_result *out, pawl_error *err);

    pawl_status (*receptors_report)(struct store *store, const struct receptor_report *reports, size_t count,
                                    struct arena *arena, struct answer_list *out, pawl_error *err);
    /* NOT_FOUND: there is no such checkpoint. STALE: it is not granted to the instance under that token. */
    pawl_status (*checkpoints_report)(struct store *store, const struct checkpoints_report *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err);

    pawl_status (*dead_redrive)(struct store *store, const struct dead_ref *refs, size_t count,
                                struct arena *arena, struct answer_list *out, pawl_error *err);
    pawl_status (*dead_discard)(struct store *store, const struct dead_ref *refs, size_t count,
                                struct arena *arena, struct answer_list *out, pawl_error *err);

    pawl_status (*maintain)(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                            pawl_error *err);
    /* Removes history rows by seq, after they were archived. */
    pawl_status (*history_remove)(struct store *store, const struct dead_ref *refs, size_t count,
                                  int64_t *removed, pawl_error *err);
    pawl_status (*settings_change)(struct store *store, const struct settings_change *in, pawl_error *err);
    pawl_status (*settings_read)(struct store *store, struct settings *out, pawl_error *err);
    /* For a restored database: every token granted before is older than every token granted after. */
    pawl_status (*epoch_raise)(struct store *store, int64_t *epoch, pawl_error *err);
    /* Adds what a worker has counted since it last did to what all workers have. Repeated, it counts twice:
     * an unknown outcome is let be. */
    pawl_status (*rollups_add)(struct store *store, const struct rollup_cell *cells, size_t count,
                               pawl_error *err);
};

#endif
