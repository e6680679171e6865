/* The relay operations: duties, deliveries from brokers, pauses, the audit of actions. Included where
 * OPERATION(name, parameters after the store) is defined. */

/* If it is free, has expired, or its holder is no longer active: a new token. If the caller holds it:
 * renewed, same token. */
OPERATION(duty_take, const struct duty_take *in, struct duty_grant *out, pawl_error *err)
/* PAWL_STALE: the token is no longer valid, which is just as good. */
OPERATION(duty_leave, pawl_str name, int64_t token, pawl_error *err)
OPERATION(duties, struct arena *arena, struct duty_rows *out, pawl_error *err)

/* One answer per message: applied, duplicate or conflict; conflicts and malformed ones are kept. */
OPERATION(messages_receive, const struct messages_receive *in, struct arena *arena, struct put_result *out,
          pawl_error *err)
/* By number, those after `after`. */
LISTS(refused, (int64_t after, int limit, struct arena *arena, struct refused_rows *out, pawl_error *err),
      "refused", QUERY(VIEW_REFUSED), PAWL_OK, refused_shape, ROWS_OUT(out, rows), VALUES(after, limit))
OPERATION(refused_remove, int64_t number, pawl_error *err)

/* Pausing something twice keeps the first pause. */
OPERATION(pause_set, const struct pause_row *in, pawl_error *err)
OPERATION(pause_clear, enum pause_scope scope, pawl_str name, pawl_error *err)
LISTS(pauses, (struct arena * arena, struct pause_rows *out, pawl_error *err), "pauses", QUERY(VIEW_PAUSES),
      PAWL_OK, pause_shape, ROWS_OUT(out, rows), NO_VALUES)

OPERATION(audit_add, const struct audit_row *in, pawl_error *err)
/* The latest first, those before `before` (0 = all). */
LISTS(audits, (int64_t before, int limit, struct arena *arena, struct audit_rows *out, pawl_error *err),
      "audits", QUERY(VIEW_AUDITS), PAWL_OK, audit_shape, ROWS_OUT(out, rows), VALUES(before, limit))
