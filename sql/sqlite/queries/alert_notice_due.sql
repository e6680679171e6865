-- alert_notice_due: deliveries to a target that are due and that nobody has.
-- params: target, now_ms, limit
SELECT n.number, n.attempts, c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail
  FROM pawl_alert_notice n JOIN pawl_alert_change c ON c.id = n.change
 WHERE n.state = 1 AND n.target = ?1 AND n.due_ms <= ?2 ORDER BY n.number LIMIT ?3
