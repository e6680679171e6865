-- hold_due_matches_head: a waiting hold is due with its first aside row; a blocked or parked one has no time.
SELECT 'hold of ' || key || ' (kind ' || kind || ', state ' || state || ') is due ' || due_ms AS detail
  FROM hold
 WHERE due_ms <> CASE state
                 WHEN 1 THEN coalesce((SELECT scheduled_ms FROM aside
                                        WHERE aside.kind = hold.kind AND aside.key = hold.key
                                        ORDER BY seq LIMIT 1), due_ms)
                 ELSE 0 END
