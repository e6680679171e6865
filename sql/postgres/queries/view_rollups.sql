-- view_rollups: see functions/view_rollups.sql
SELECT r.measure, r.kind, r.result, r.bucket, r.count, r.sum FROM pawl.view_rollups() r
