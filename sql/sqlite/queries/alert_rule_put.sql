-- alert_rule_put: make or change a rule; its state stays.
-- params: name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms
INSERT INTO pawl_alert_rule (name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms, enabled, version, updated_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (name) DO UPDATE SET metric = ?2, summary = ?3, targets = ?4, side = ?5, severity = ?6, threshold = ?7,
       clear_threshold = ?8, for_ms = ?9, clear_ms = ?10, enabled = ?11, version = ?12, updated_ms = ?13
