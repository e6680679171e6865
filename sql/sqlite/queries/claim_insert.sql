-- claim_insert: a new claim part.
-- params: token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms, lease_until_ms,
--   in_flight, request, marks, items, lost
INSERT INTO pawl_claim (token, part, kind, lane, instance, source, suspect, state, policy, max_attempts, began_ms,
                   lease_until_ms, in_flight, request, marks, items, lost)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
