-- alert_state_write: the state of a rule, if it is still the version that was evaluated.
-- params: name, version, phase, since_ms, turning_ms, told, value
UPDATE pawl_alert_rule SET phase = ?3, since_ms = ?4, turning_ms = ?5, told = ?6, value = ?7 WHERE name = ?1 AND version = ?2
