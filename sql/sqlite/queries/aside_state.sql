-- aside_state: how often a message failed.
-- params: kind, seq
SELECT attempts, deaths, error FROM pawl_aside WHERE kind = ?1 AND seq = ?2
