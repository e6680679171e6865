-- alert_turn_take: see functions/alert_turn_take.sql
SELECT t.taken, t.token, t.now_ms, t.next_ms, t.window_text FROM pawl.alert_turn_take($1) t
