-- claim_forget: a claim part that one call completed whole needs its lists no more.
-- params: token, part
UPDATE pawl_claim SET state = 2, in_flight = 0, marks = NULL, items = NULL
 WHERE token = ?1 AND part = ?2
