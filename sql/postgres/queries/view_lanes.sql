-- view_lanes: see functions/view_lanes.sql
SELECT l.lane, l.owner, l.token, l.high, l.moves, l.draining, l.claims, l.holds FROM pawl.view_lanes($1) l
