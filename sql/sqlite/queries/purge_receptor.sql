-- purge_receptor: old notes of receptors whose message has ended.
-- params: before_ms, limit
DELETE FROM pawl_receptor
 WHERE (event_id, receptor) IN (
       SELECT r.event_id, r.receptor FROM pawl_receptor r
        WHERE r.updated_ms < ?1
          AND NOT EXISTS (SELECT 1 FROM pawl_message m WHERE m.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM pawl_aside a WHERE a.id = r.event_id)
          AND NOT EXISTS (SELECT 1 FROM pawl_dead d WHERE d.id = r.event_id)
        ORDER BY r.updated_ms LIMIT ?2)
