/* Reports on granted messages: complete, fail, release, renew. */
#ifndef STORE_SQLITE_CLAIMS_REPORT_H
#define STORE_SQLITE_CLAIMS_REPORT_H

#include "store/sqlite/claims/part.h"

/* The reporting instance. */
struct reporter {
    pawl_uuid instance;
    enum store_kind kind;
};

/* Whether the part was granted to the reporter. */
bool report_is_of(const struct reporter *by, const struct part *part);

/* The answer for an item that is not held: duplicate if it was reported before, otherwise stale (and
 * counted). */
PAWL_MUSTCHECK pawl_status report_unheld(struct operation *op, const struct reporter *by,
                                         const struct item_ref *ref, enum store_answer *answer);

/* The first unfinished message with that id under the token; *part NULL when there is none. */
PAWL_MUSTCHECK pawl_status report_find_held(struct operation *op, const struct reporter *by,
                                            const struct item_ref *ref, struct part **part,
                                            struct part_item **item);

/* Room for the answers of count items, with outcomes when asked for. */
PAWL_MUSTCHECK pawl_status report_answers(struct operation *op, struct arena *arena, size_t count,
                                          bool outcomes, struct answer_list *out);

/* Inside an operation: the input is checked already. */
PAWL_MUSTCHECK pawl_status items_complete(struct operation *op, const struct messages_complete *in,
                                          struct arena *arena, struct answer_list *out);
PAWL_MUSTCHECK pawl_status items_fail(struct operation *op, const struct messages_fail *in,
                                      struct arena *arena, struct answer_list *out);
PAWL_MUSTCHECK pawl_status items_release(struct operation *op, const struct messages_release *in,
                                         struct arena *arena, struct answer_list *out);
PAWL_MUSTCHECK pawl_status items_renew(struct operation *op, const struct messages_renew *in,
                                       struct arena *arena, struct answer_list *out);

/* Notes a failed attempt of an item that is aside or dead by now. */
PAWL_MUSTCHECK pawl_status attempt_note(struct operation *op, const struct part *part,
                                        const struct part_item *item, bool lost);

/* Reports of receptors and checkpoints: the same. */
PAWL_MUSTCHECK pawl_status log_receptors(struct operation *op, const struct receptor_report *reports,
                                         size_t count, struct arena *arena, struct answer_list *out);
PAWL_MUSTCHECK pawl_status log_checkpoints(struct operation *op, const struct checkpoints_report *in,
                                           struct arena *arena, struct answer_list *out);

#endif
