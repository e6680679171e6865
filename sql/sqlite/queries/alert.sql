-- alert: alert rules, their changes, and the notices about them.

-- name: alert_change_forget
-- Remove history that is too old, a little at a time.
-- params: before_ms, rows_max
DELETE FROM pawl_alert_change WHERE number IN (SELECT number FROM pawl_alert_change WHERE at_ms < ?1 ORDER BY number LIMIT ?2)

-- name: alert_change_insert
-- Something happened to a rule.
-- params: id, rule, event, value, at_ms, detail
INSERT INTO pawl_alert_change (id, rule, event, value, at_ms, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)

-- name: alert_changes
-- What happened to the rules, the latest first, with what became of its deliveries.
-- params: rule (NULL: all), before (0: from the latest), limit
SELECT c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail,
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_WAITING),
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_DELIVERED),
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = :NOTICE_GIVEN_UP),
       (SELECT n.error FROM pawl_alert_notice n WHERE n.change = c.id AND n.error IS NOT NULL ORDER BY n.number DESC LIMIT 1)
  FROM pawl_alert_change c WHERE (?1 IS NULL OR c.rule = ?1) AND (?2 = 0 OR c.number < ?2) ORDER BY c.number DESC LIMIT ?3

-- name: alert_notice_any
-- Whether something is to be delivered.
-- params: now_ms
SELECT 1 FROM pawl_alert_notice WHERE state = :NOTICE_WAITING AND due_ms <= ?1 LIMIT 1

-- name: alert_notice_due
-- Deliveries to a target that are due and not leased.
-- params: target, now_ms, limit
SELECT n.number, n.attempts, c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail
  FROM pawl_alert_notice n JOIN pawl_alert_change c ON c.id = n.change
 WHERE n.state = :NOTICE_WAITING AND n.target = ?1 AND n.due_ms <= ?2 ORDER BY n.number LIMIT ?3

-- name: alert_notice_end
-- The outcome of a delivery, reported by its holder.
-- params: number, token, state, due_ms, error
UPDATE pawl_alert_notice SET state = ?3, due_ms = ?4, error = ?5, token = 0 WHERE number = ?1 AND token = ?2 AND state = :NOTICE_WAITING

-- name: alert_notice_forget
-- Remove deliveries whose change is gone.
DELETE FROM pawl_alert_notice WHERE NOT EXISTS (SELECT 1 FROM pawl_alert_change c WHERE c.id = pawl_alert_notice.change)

-- name: alert_notice_insert
-- Something has to be delivered.
-- params: change, target, due_ms
INSERT INTO pawl_alert_notice (change, target, due_ms) VALUES (?1, ?2, ?3)

-- name: alert_notice_take
-- Lease a delivery.
-- params: number, token, due_ms
UPDATE pawl_alert_notice SET token = ?2, due_ms = ?3, attempts = attempts + 1 WHERE number = ?1

-- name: alert_rule_count
-- How many rules there are.
SELECT count(*) FROM pawl_alert_rule

-- name: alert_rule_delete
-- Remove a rule; its history stays.
-- params: name
DELETE FROM pawl_alert_rule WHERE name = ?1

-- name: alert_rule_put
-- Make or change a rule; its state stays.
-- params: name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms
INSERT INTO pawl_alert_rule (name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (name) DO UPDATE SET metric = ?2, summary = ?3, targets = ?4, side = ?5, severity = ?6, threshold = ?7,
       clear_threshold = ?8, for_ms = ?9, clear_ms = ?10, enabled = ?11, version = ?12, updated_ms = ?13

-- name: alert_rules
-- The rules by name, or one of them.
-- params: name (NULL: all)
SELECT name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms,
       phase, since_ms, turning_ms, told, value, silence_until_ms, silence_reason, silence_by
  FROM pawl_alert_rule WHERE ?1 IS NULL OR name = ?1 ORDER BY name

-- name: alert_silence
-- A rule is silent until then.
-- params: name, until_ms, reason, actor
UPDATE pawl_alert_rule SET silence_until_ms = ?2, silence_reason = ?3, silence_by = ?4 WHERE name = ?1

-- name: alert_state_write
-- The state of a rule, if it is still the version that was evaluated.
-- params: name, version, phase, since_ms, turning_ms, told, value
UPDATE pawl_alert_rule SET phase = ?3, since_ms = ?4, turning_ms = ?5, told = ?6, value = ?7 WHERE name = ?1 AND version = ?2

-- name: alert_turn_close
-- A turn has ended; what it leaves for the next.
-- params: window_text
UPDATE pawl_alert_turn SET window_text = ?1 WHERE one = 1

-- name: alert_turn_read
-- Whose turn it is, and what the last one left.
SELECT token, next_ms, window_text FROM pawl_alert_turn WHERE one = 1

-- name: alert_turn_write
-- A turn is given.
-- params: token, next_ms
UPDATE pawl_alert_turn SET token = ?1, next_ms = ?2 WHERE one = 1
