-- purge_receptor: old notes of receptors whose message has ended.
-- params: before_ms, limit
DELETE FROM receptor
 WHERE (event_id, receptor) IN (
       SELECT r.event_id, r.receptor FROM receptor r
        WHERE r.updated_ms < ?1
          AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM aside a WHERE a.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM dead d WHERE d.id = r.event_id)
        ORDER BY r.updated_ms LIMIT ?2)
