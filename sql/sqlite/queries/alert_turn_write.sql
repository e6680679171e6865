-- alert_turn_write: a turn is given.
-- params: token, next_ms
UPDATE pawl_alert_turn SET token = ?1, next_ms = ?2 WHERE one = 1
