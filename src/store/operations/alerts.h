/* The operations on alerts. Included where OPERATION(name,
 * parameters after the store) is defined. */

/* name absent: all of them. */
LISTS(rules, (pawl_str name, struct arena *arena, struct alert_rows *out, pawl_error *err), "alert_rules",
      QUERY(ALERT_RULES), PAWL_OK, alert_shape, ROWS_OUT_NOW(out, rows), VALUES(name))
/* Creates or changes a rule; its state stays. PAWL_CONFLICT: another version, or too many rules. */
OPERATION(rule_put, const struct alert_rule *in, int64_t *version, pawl_error *err)
/* Its history stays. PAWL_NOT_FOUND. */
OPERATION(rule_remove, pawl_str name, pawl_error *err)
OPERATION(silence, const struct alert_silence *in, pawl_error *err)

OPERATION(turn_take, int64_t interval_ms, struct arena *arena, struct alert_turn *out, pawl_error *err)
/* PAWL_STALE: another turn was granted in the meantime. PAWL_CONFLICT: a rule was changed in the meantime.
 * Either way nothing is written. Also removes history that is too old. */
OPERATION(turn_end, const struct alert_turn_end *in, pawl_error *err)
/* A notification outside a turn: a test. */
OPERATION(tell, const struct alert_news *in, pawl_error *err)

/* rule absent: of all. before: keyset cursor, 0 = from the latest. */
LISTS(changes,
      (pawl_str rule, int64_t before, int limit, struct arena *arena, struct alert_changes *out,
       pawl_error *err),
      "alert_changes", QUERY(ALERT_CHANGES), PAWL_OK, alert_change_shape, ROWS_OUT(out, changes),
      VALUES(rule, before, limit))

/* Deliveries to this target that are due and not leased. */
OPERATION(notices_take, pawl_str target, int64_t lease_ms, int limit, struct arena *arena,
          struct alert_notices *out, pawl_error *err)
/* PAWL_STALE: its lease ended and another caller has it. */
OPERATION(notice_end, const struct alert_notice_end *in, pawl_error *err)

/* How much of its tightest limit the database uses, in percent: connections, or the disk of the file. */
OPERATION(pressure, int64_t *percent, pawl_error *err)
