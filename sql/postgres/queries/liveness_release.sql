-- liveness_release: gives the liveness lock of this session back, so that peers see at once that it is gone.
SELECT pg_catalog.pg_advisory_unlock_all()
