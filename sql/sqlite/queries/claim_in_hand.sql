-- claim_in_hand: how many suspects and how many lost messages an instance has in flight, the slots it says it has, and how
--                many claims it has, of all kinds and of other kinds than the one that it claims.
-- params: instance, kind
SELECT coalesce(sum(suspect > 0), 0), coalesce(sum(lost), 0), (SELECT slots FROM pawl_instance WHERE id = ?1),
       count(*), coalesce(sum(kind <> ?2), 0)
  FROM pawl_claim WHERE kind IN (1, 2, 3) AND state = 1 AND instance = ?1
