-- send_rollback: forgets what a send inside somebody else's transaction wrote.
ROLLBACK TO pawl_send
