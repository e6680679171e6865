-- alert_change_list: what happened to the rules, the latest first, with what became of its deliveries.
-- params: rule (NULL: all), before (0: from the latest), limit
SELECT c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail,
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = 1),
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = 2),
       (SELECT count(*) FROM pawl_alert_notice n WHERE n.change = c.id AND n.state = 3),
       (SELECT n.error FROM pawl_alert_notice n WHERE n.change = c.id AND n.error IS NOT NULL ORDER BY n.number DESC LIMIT 1)
  FROM pawl_alert_change c WHERE (?1 IS NULL OR c.rule = ?1) AND (?2 = 0 OR c.number < ?2) ORDER BY c.number DESC LIMIT ?3
