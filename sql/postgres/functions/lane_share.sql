-- lane_share: how many lanes of a kind an instance owns, and how many it should.
-- params: p_id uuid, p_kind smallint, p_now bigint
-- returns: owned (draining ones left out), draining, free lanes of the kind, quota (NULL: it is not live for the kind)
-- tables: instance, lane, settings (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.lane_share(
    p_id uuid, p_kind smallint, p_now bigint, OUT owned integer, OUT draining integer, OUT free integer, OUT quota integer)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH per_owner AS (
        SELECT l.owner, count(*) FILTER (WHERE NOT l.draining) AS owned, count(*) FILTER (WHERE l.draining) AS draining
          FROM pawl.lane l WHERE l.kind = p_kind GROUP BY l.owner),
    live AS (
        SELECT i.id, i.max_partitions, coalesce(o.owned, 0) AS owned,
               count(*) OVER () AS members,
               row_number() OVER (ORDER BY coalesce(o.owned, 0) DESC, i.id) - 1 AS rank
          FROM pawl.instance i LEFT JOIN per_owner o ON o.owner = i.id
         WHERE i.state = 1 AND (i.kinds >> p_kind) & 1 = 1 AND i.lease_until_ms > p_now)
    SELECT coalesce(o.owned, 0)::integer, coalesce(o.draining, 0)::integer,
           coalesce((SELECT f.owned FROM per_owner f WHERE f.owner IS NULL), 0)::integer,
           (SELECT least(s.lane_count / m.members + CASE WHEN m.rank < s.lane_count % m.members THEN 1 ELSE 0 END,
                         CASE WHEN m.max_partitions > 0
                              THEN greatest(1, (m.max_partitions::bigint * s.lane_count + s.partition_count - 1)
                                               / s.partition_count) END)
              FROM live m WHERE m.id = p_id)::integer
      FROM pawl.settings s LEFT JOIN per_owner o ON o.owner = p_id
$$;
