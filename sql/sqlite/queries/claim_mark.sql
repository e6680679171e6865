-- claim_mark: what a report changed in a claim part.
-- params: token, part, state, lease_until_ms, in_flight, marks, suspect
UPDATE pawl_claim SET state = ?3, lease_until_ms = ?4, in_flight = ?5, marks = ?6, suspect = ?7
 WHERE token = ?1 AND part = ?2
