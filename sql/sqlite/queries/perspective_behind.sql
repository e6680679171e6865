-- perspective_behind: in how many streams a perspective has not applied everything.
-- params: key
SELECT count(*) FROM pawl_checkpoint c JOIN pawl_stream s ON s.stream = c.stream WHERE c.perspective = ?1 AND c.version < s.version
