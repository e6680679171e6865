-- intake_delete: rows that have become messages, or were refused.
-- params: number
DELETE FROM pawl_intake WHERE number <= ?1
