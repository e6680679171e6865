/* What the model shows of its state. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include "store/model/state.h"

/* Every record for which wanted() is true, by kind, lane and seq or by seq; free() the array. */
struct records {
    struct record **at;
    size_t count;
};

struct records model_records_by_seq(const struct model *model,
                                    bool (*wanted)(const struct record *record, const void *self),
                                    const void *self);

enum message_state model_record_state(const struct record *record);
/* A message as the views show it. */
PAWL_MUSTCHECK pawl_status model_row_copy(const struct record *record, struct arena *arena,
                                          struct message_row *row, pawl_error *err);
/* The records with that id, by seq; free() the array. */
struct records model_records_with_id(const struct model *model, pawl_uuid id);

/* Fields of a line of the dump (docs/state-dump.md): ' name="text"', '-' when absent; of an error its first
 * line. */
void model_dump_text(struct buf *buf, const char *name, pawl_str text);
void model_dump_error(struct buf *buf, pawl_str error);

pawl_status model_counts(struct store *store, struct counts *out, pawl_error *err);
pawl_status model_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                            pawl_error *err);
pawl_status model_lanes(struct store *store, enum store_kind kind, struct arena *arena, struct lane_rows *out,
                        pawl_error *err);
pawl_status model_messages(struct store *store, const struct message_filter *filter, struct arena *arena,
                           struct message_rows *out, pawl_error *err);
pawl_status model_message_ids(struct store *store, pawl_uuid low, pawl_uuid high, int limit,
                              struct arena *arena, struct uuid_list *out, pawl_error *err);
pawl_status model_message_find(struct store *store, pawl_uuid id, struct arena *arena,
                               struct message_rows *out, pawl_error *err);
pawl_status model_dead_groups(struct store *store, enum store_kind kind, int limit, struct arena *arena,
                              struct dead_groups *out, pawl_error *err);
pawl_status model_why(struct store *store, pawl_uuid id, struct arena *arena, struct why *out,
                      pawl_error *err);
pawl_status model_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                 struct arena *arena, struct checkpoint_row *out, pawl_error *err);
pawl_status model_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                            struct receptor_row **rows, size_t *count, pawl_error *err);
pawl_status model_durability(struct store *store, struct arena *arena, struct durability *out,
                             pawl_error *err);
pawl_status model_problems(struct store *store, struct arena *arena, struct violations *out, pawl_error *err);
pawl_status model_check(struct store *store, struct arena *arena, struct violations *out, pawl_error *err);
pawl_status model_dump(struct store *store, struct buf *out, pawl_error *err);

#endif
