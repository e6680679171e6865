-- event_appended: when the event at a position was appended.
-- params: position
SELECT appended_ms FROM pawl_event WHERE position = ?1
