-- audit_list: what people did, the latest first.
-- params: before (0: all), limit
SELECT number, at_ms, actor, action, detail FROM pawl_audit WHERE ?1 = 0 OR number < ?1 ORDER BY number DESC LIMIT ?2
