-- purge_claim: claims that ended long ago.
-- params: before_ms, limit
DELETE FROM pawl_claim
 WHERE rowid IN (SELECT rowid FROM pawl_claim WHERE state <> 1 AND lease_until_ms < ?1 ORDER BY lease_until_ms LIMIT ?2)
