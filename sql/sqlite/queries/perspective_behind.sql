-- perspective_behind: in how many streams a perspective has not applied everything.
-- params: key
SELECT count(*) FROM checkpoint c JOIN stream s ON s.stream = c.stream WHERE c.perspective = ?1 AND c.version < s.version
