-- floor_delete: rows by their keys. The range and the join make it fast whatever the planner believes: with = ANY alone
-- and no statistics it reads the whole lane.
DELETE FROM bench.message AS m
 USING unnest($2::bigint[]) AS s (seq)
 WHERE m.kind = 1 AND m.lane = $1::int AND m.seq BETWEEN $3::bigint AND $4::bigint AND m.seq = s.seq
