-- claim_in_hand: how many suspects and how many lost messages an instance has in flight, and the slots it says it has.
-- params: instance
SELECT coalesce(sum(suspect > 0), 0), coalesce(sum(lost), 0), (SELECT slots FROM pawl_instance WHERE id = ?1)
  FROM pawl_claim WHERE kind IN (1, 2, 3) AND state = 1 AND instance = ?1
