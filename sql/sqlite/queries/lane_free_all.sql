-- lane_free_all: every lane of an owner becomes free.
-- params: owner
UPDATE pawl_lane SET owner = NULL, draining = 0 WHERE kind IN (1, 2, 3) AND owner = ?1
