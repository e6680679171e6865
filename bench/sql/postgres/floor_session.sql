-- floor_session: the plans of the hot statements are pinned, as pawl's are: a table that swings between empty and full
-- misleads the planner.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET jit = off;
SET plan_cache_mode = force_generic_plan;
