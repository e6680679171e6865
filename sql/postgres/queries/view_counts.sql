-- view_counts: see functions/view_counts.sql
SELECT c.now_ms, c.kind, c.ready, c.leased, c.aside, c.dead, c.put, c.done, c.failed, c.stale, c.duplicate, c.redriven,
       c.discarded, c.oldest_ready_ms, c.claims_active, c.claims_overdue, c.lanes_free, c.next_due_ms
  FROM pawl.view_counts() c
