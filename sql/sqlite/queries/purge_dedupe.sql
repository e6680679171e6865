-- purge_dedupe: messages outside the dedupe window.
-- params: before_ms, limit
DELETE FROM pawl_dedupe
 WHERE (consumer, id) IN (SELECT consumer, id FROM pawl_dedupe WHERE seen_ms < ?1 ORDER BY seen_ms LIMIT ?2)
