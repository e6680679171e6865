-- alert_rules: the rules by name, or one of them.
-- params: name (NULL: all)
SELECT name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms,
       phase, since_ms, turning_ms, told, value, silence_until_ms, silence_reason, silence_by
  FROM pawl_alert_rule WHERE ?1 IS NULL OR name = ?1 ORDER BY name
