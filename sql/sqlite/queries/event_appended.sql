-- event_appended: when the event at a position was appended.
-- params: position
SELECT appended_ms FROM event WHERE position = ?1
