/* Seeded bugs of the protocol: the functions behind the list. */
#ifndef SIM_MUTANTS_INT_H
#define SIM_MUTANTS_INT_H

#include "sim/world/world.h"

void mutant_releases_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena);
void mutant_put_lost(struct world *world, const struct messages_put *in);
void mutant_dedupe_forgotten(struct world *world, struct messages_put *in);
void mutant_expire_early(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena);
void mutant_evict_living(struct world *world, const struct wire *wire);
void mutant_suspicion_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                                struct arena *arena);
void mutant_charged_at_grant(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena);
void mutant_deaths_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena);
void mutant_attempts_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena);
void mutant_retry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena);
void mutant_expiry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena);
void mutant_block_ignored(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena);
void mutant_parked_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena);
void mutant_dead_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                      struct arena *arena);
void mutant_behind_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena);
void mutant_redrive_lost(struct world *world, const struct dead_ref *ref);
void mutant_token_reused(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_leaving_loses(struct world *world, const struct wire *wire);
void mutant_left_lost(struct world *world, const struct wire *wire);
void mutant_stale_completions(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena);
void mutant_stale_failures(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena);
void mutant_stale_releases(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena);
void mutant_stale_renewals(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena);
void mutant_renewals_dropped(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_renewals_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena);
void mutant_completion_dropped(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_completion_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                                struct arena *arena);
void mutant_failure_dropped(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_failure_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena);
void mutant_put_key_forgotten(struct world *world, struct messages_put *in);
void mutant_batch_key_forgotten(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_hand_out_twice(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena);
void mutant_no_limit(struct world *world, const struct wire *wire, struct work_batch *batch);
void mutant_complete_early(struct world *world, int worker, const struct engine_run *run);
void mutant_duplicates_applied(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena);
void mutant_swap_order(struct world *world, struct wire *wire, struct work_batch_result *result,
                       struct arena *arena);
void mutant_lease_from_reply(struct world *world, const struct wire *wire, struct work_batch_result *result);

/* The other kinds of work. */
extern const struct mutant kind_mutants[];
extern const size_t kind_mutant_count;
/* The counts of the jobs follow the jobs. */
void mutant_tally(struct world *world);
void mutant_completions_released(struct world *world, struct wire *wire);
void mutant_completions_claimed(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_job_stale_applied(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_job_duplicate_applied(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_renewal_short(struct world *world, struct wire *wire);
void mutant_renewal_said(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_enqueue_key_forgotten(struct world *world, struct jobs_enqueue *in);
void mutant_unique_forgotten(struct world *world, struct jobs_enqueue *in);
void mutant_enqueue_lost(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_cancel_forgotten(struct world *world, int64_t id);
void mutant_job_redrive_lost(struct world *world, int64_t id);
void mutant_append_key_forgotten(struct world *world, struct events_append *in);
void mutant_notes_shared(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_duty_kept(struct world *world, struct wire *wire, struct delivery *delivery);
void mutant_duty_unchecked(struct world *world, struct messages_receive *in);
void mutant_rebuild_forgets(struct world *world, const char *perspective);
void mutant_switch_early(struct world *world, struct switch_result *out);
void mutant_checkpoint_stale_applied(struct world *world, struct wire *wire, struct delivery *delivery);

#endif
