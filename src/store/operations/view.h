/* The view operations: read-only queries about the state. Included where OPERATION(name, parameters after the
 * store) is defined. */

OPERATION(counts, struct counts *out, pawl_error *err)
/* All of them in one transaction where a transaction is a call to a server. */
OPERATION(fleet, struct arena *arena, struct fleet_facts *out, pawl_error *err)
OPERATION(instances, struct arena *arena, struct instance_rows *out, pawl_error *err)
OPERATION(lanes, enum store_kind kind, struct arena *arena, struct lane_rows *out, pawl_error *err)
OPERATION(messages, const struct message_filter *filter, struct arena *arena, struct message_rows *out,
          pawl_error *err)
/* Every message with that id (an outbox may hold an id twice), any state. */
OPERATION(message_find, pawl_uuid id, struct arena *arena, struct message_rows *out, pawl_error *err)
/* Ids of messages from low to high, both included, each once, ascending, at most limit: for ids given
 * by their beginning. */
LISTS(message_ids,
      (pawl_uuid low, pawl_uuid high, int limit, struct arena *arena, struct uuid_list *out, pawl_error *err),
      "message_ids", QUERY(VIEW_IDS), check_limit("message_ids", limit, err), id_shape, ROWS_OUT(out, ids),
      VALUES(low, high, limit))
OPERATION(dead_groups, enum store_kind kind, int limit, struct arena *arena, struct dead_groups *out,
          pawl_error *err)
/* The first unfinished message with that id; cause WHY_UNKNOWN_MESSAGE and PAWL_NOT_FOUND when there is
 * none. */
OPERATION(why, pawl_uuid id, struct arena *arena, struct why *out, pawl_error *err)
OPERATION(checkpoint_get, pawl_str stream, pawl_str perspective, struct arena *arena,
          struct checkpoint_row *out, pawl_error *err)
OPERATION(receptors, pawl_uuid event_id, struct arena *arena, struct receptor_row **rows, size_t *count,
          pawl_error *err)
/* The failed attempts of a message, the first one first; it may be gone. */
LISTS(attempts, (pawl_uuid id, struct arena *arena, struct attempt_rows *out, pawl_error *err), "attempts",
      QUERY(VIEW_ATTEMPTS), PAWL_OK, attempt_shape, ROWS_OUT(out, rows), VALUES(id))
/* Runs every invariant; no rows = all is well. */
OPERATION(check, struct arena *arena, struct violations *out, pawl_error *err)
/* Settings of the server or file that endanger the work, by the names in sql/DIALECT/doctor; no rows = none.
 * Reads no table that holds work, so a busy store answers at once. */
OPERATION(durability, struct arena *arena, struct durability *out, pawl_error *err)
OPERATION(problems, struct arena *arena, struct violations *out, pawl_error *err)
/* The whole logical state as sorted lines, without seq, token or surrogate numbers, so that two stores
 * that saw the same calls print the same text (format: docs/state-dump.md). For tests. */
OPERATION(dump, struct buf *out, pawl_error *err)
/* What all workers have counted; only cells that are not empty. */
LISTS(rollups, (struct arena * arena, struct rollup_cells *out, pawl_error *err), "rollups",
      QUERY(VIEW_ROLLUPS), PAWL_OK, rollup_shape, ROWS_OUT(out, cells), NO_VALUES)
/* The history of kinds, queues and handlers. */
LISTS(series, (const struct series_ask *ask, struct arena *arena, struct series_rows *out, pawl_error *err),
      "series", QUERY(VIEW_SERIES), check_series_ask(ask, err), series_shape, ROWS_OUT(out, rows),
      VALUES(ask->scope, ask->kind, ask->name, ask->from_ms, ask->to_ms, ask->step_ms))
