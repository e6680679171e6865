-- alert: alert rules, their changes, and the notices about them.

-- name: alert_changes
SELECT c.* FROM pawl.alert_changes($1, $2, $3) c

-- name: alert_notice_end
SELECT pawl.alert_notice_end($1, $2, $3, $4, $5)

-- name: alert_notices_take
SELECT n.* FROM pawl.alert_notices_take($1, $2, $3) n

-- name: alert_pressure
SELECT pawl.alert_pressure()

-- name: alert_rule_put
SELECT pawl.alert_rule_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: alert_rule_remove
SELECT pawl.alert_rule_remove($1)

-- name: alert_rules
SELECT r.* FROM pawl.alert_rules($1) r

-- name: alert_silence
SELECT pawl.alert_silence($1, $2, $3, $4)

-- name: alert_tell
SELECT pawl.alert_tell($1, $2, $3, $4, $5, $6, $7)

-- name: alert_turn_end
SELECT pawl.alert_turn_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: alert_turn_take
SELECT t.taken, t.token, t.now_ms, t.next_ms, t.window_text FROM pawl.alert_turn_take($1) t
