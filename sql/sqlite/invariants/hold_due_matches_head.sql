-- hold_due_matches_head: a waiting hold is due with its first aside row; a blocked or parked one has no time.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') is due ' || due_ms AS detail
  FROM pawl_hold
 WHERE due_ms <> CASE state
                 WHEN 1 THEN coalesce((SELECT scheduled_ms FROM pawl_aside
                                        WHERE pawl_aside.kind = pawl_hold.kind AND pawl_aside.key = pawl_hold.key
                                        ORDER BY seq LIMIT 1), due_ms)
                 ELSE 0 END
