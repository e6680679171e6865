-- clock_read: the database's clock.
SELECT pawl.now_ms()
