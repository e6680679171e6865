-- purge_dedupe: messages outside the dedupe window.
-- params: before_ms, limit
DELETE FROM dedupe
 WHERE (consumer, id) IN (SELECT consumer, id FROM dedupe WHERE seen_ms < ?1 ORDER BY seen_ms LIMIT ?2)
