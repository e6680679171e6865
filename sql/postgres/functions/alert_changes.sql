-- alert_changes: what happened to the rules, the latest first, with what became of its deliveries.
-- params: p_rule text (NULL: all), p_before bigint (0: from the latest), p_limit integer
-- returns: one row each; the error of a delivery only for who may see payloads
-- tables: alert_change, alert_notice (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.alert_changes(p_rule text, p_before bigint, p_limit integer) RETURNS TABLE (
    number bigint, id uuid, rule text, event smallint, value bigint, at_ms bigint, detail text, waiting bigint, delivered bigint,
    failed bigint, error text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail,
           (SELECT count(*) FROM pawl.alert_notice n WHERE n.change = c.id AND n.state = 1),
           (SELECT count(*) FROM pawl.alert_notice n WHERE n.change = c.id AND n.state = 2),
           (SELECT count(*) FROM pawl.alert_notice n WHERE n.change = c.id AND n.state = 3),
           (SELECT CASE WHEN pawl.payloads_shown() THEN n.error END FROM pawl.alert_notice n WHERE n.change = c.id AND n.error IS NOT NULL ORDER BY n.number DESC LIMIT 1)
      FROM pawl.alert_change c
     WHERE (p_rule IS NULL OR c.rule = p_rule) AND (p_before = 0 OR c.number < p_before) ORDER BY c.number DESC LIMIT p_limit;
END
$$;
