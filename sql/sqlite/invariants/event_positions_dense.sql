-- event_positions_dense: positions are 1 to the last one given, without a gap.
SELECT count(*) || ' events have positions up to ' || max(position) AS detail FROM pawl_event HAVING count(*) <> coalesce(max(position), 0)
