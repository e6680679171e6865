-- series: what happened over the last 30 days, in steps that grow with its age.

-- name: series_find
-- The series of a name, or the one that all without a series of their own share.
-- params: scope, kind, name
SELECT id, name = ?3 FROM pawl_series WHERE scope = ?1 AND (kind, name) IN ((?2, ?3), (0, '')) ORDER BY name <> ?3 LIMIT 1

-- name: series_add
-- A series of a new name, or, if its scope has as many as there may be, the one without a name.
-- params: scope, kind, name
INSERT INTO pawl_series (scope, kind, name)
SELECT ?1, iif(fits, ?2, 0), iif(fits, ?3, '')
  FROM (SELECT ?3 = '' OR (SELECT count(*) FROM pawl_series WHERE scope = ?1) < :SERIES_NAMES_MAX AS fits)
 WHERE true
ON CONFLICT (scope, kind, name) DO NOTHING

-- name: series_list
-- The series of kinds and queues.
SELECT id FROM pawl_series WHERE scope IN (:SERIES_KIND, :SERIES_QUEUE) ORDER BY id

-- name: series_seen
-- What was seen last of a series, if it has changed.
-- params: id, ready, dead
UPDATE pawl_series SET ready = ?2, dead = ?3 WHERE id = ?1 AND (ready <> ?2 OR dead <> ?3)

-- name: series_forget
-- Series without points.
DELETE FROM pawl_series WHERE id NOT IN (SELECT series FROM pawl_series_point)

-- name: point_add
-- Adds to a point of the finest step.
-- params: series, at_ms, the columns of a point
INSERT INTO pawl_series_point (step_ms, series, at_ms, {{point}}) VALUES (:SERIES_STEP_MS, ?, ?, {{each point: ?}})
ON CONFLICT (step_ms, at_ms, series) DO UPDATE SET {{each point: @ = @ + excluded.@}}

-- name: point_look
-- What was seen in a step, whose other sums are 0 so far.
-- params: series, at_ms, ready, dead, oldest_age_ms
INSERT INTO pawl_series_point (step_ms, series, at_ms, ready, dead, oldest_age_ms, {{point}})
VALUES (:SERIES_STEP_MS, ?1, ?2, ?3, ?4, ?5, {{each point: 0}})
ON CONFLICT (step_ms, at_ms, series) DO UPDATE
   SET ready = max(coalesce(ready, 0), ?3), dead = max(coalesce(dead, 0), ?4), oldest_age_ms = max(coalesce(oldest_age_ms, 0), ?5)

-- name: point_looked
-- Whether anybody has looked in a step.
-- params: at_ms
SELECT 1 FROM pawl_series_point WHERE step_ms = :SERIES_STEP_MS AND at_ms = ?1 AND ready IS NOT NULL LIMIT 1

-- name: point_first
-- The first point of a resolution.
-- params: step_ms
SELECT min(at_ms) FROM pawl_series_point WHERE step_ms = ?1

-- name: point_fold
-- Adds the points of a step before a time to those of a longer step; point_purge then removes them.
-- params: step_ms, the longer one, before_ms
INSERT INTO pawl_series_point (step_ms, at_ms, series, ready, dead, oldest_age_ms, {{point}})
SELECT ?2, at_ms - at_ms % ?2, series, max(ready), max(dead), max(oldest_age_ms), {{each point: sum(@)}}
  FROM pawl_series_point WHERE step_ms = ?1 AND at_ms < ?3 GROUP BY 2, 3
ON CONFLICT (step_ms, at_ms, series) DO UPDATE
   SET ready = coalesce(max(ready, excluded.ready), ready, excluded.ready), dead = coalesce(max(dead, excluded.dead), dead, excluded.dead),
       oldest_age_ms = coalesce(max(oldest_age_ms, excluded.oldest_age_ms), oldest_age_ms, excluded.oldest_age_ms),
       {{each point: @ = @ + excluded.@}}

-- name: point_purge
-- Removes the points of a step before a time.
-- params: step_ms, before_ms
DELETE FROM pawl_series_point WHERE step_ms = ?1 AND at_ms < ?2

-- name: view_series
-- The points of a range, summed up in steps, and once each series as it was seen last.
-- params: scope, kind (0: any), name (NULL: any), from_ms (included), to_ms, step_ms
-- returns: by scope, kind, name and at_ms; first of each series with at_ms -1 and what was seen last; ready, dead and
--   oldest_age_ms -1: not seen
WITH asked AS MATERIALIZED (
    SELECT * FROM pawl_series WHERE ?1 IN (0, scope) AND ?2 IN (0, kind) AND (?3 IS NULL OR name = ?3))
SELECT a.scope, a.kind, a.name, -1, a.ready, a.dead, -1, {{each point: 0}} FROM asked a
 UNION ALL
SELECT a.scope, a.kind, a.name, p.at_ms - p.at_ms % ?6, coalesce(max(p.ready), -1), coalesce(max(p.dead), -1),
       coalesce(max(p.oldest_age_ms), -1), {{each point: sum(p.@)}}
  FROM pawl_series_point p CROSS JOIN asked a ON a.id = p.series
 WHERE p.step_ms IN (:SERIES_STEP_MS, :SERIES_MINUTE_MS, :SERIES_QUARTER_MS) AND p.at_ms >= ?4 AND p.at_ms < ?5
 GROUP BY 1, 2, 3, 4
 ORDER BY 1, 2, 3, 4
