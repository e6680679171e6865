-- dedupe_hash: the payload hash of a known message.
-- params: consumer, id
SELECT payload_hash FROM pawl_dedupe WHERE consumer = ?1 AND id = ?2
