-- send_savepoint: marks where a send inside somebody else's transaction begins.
SAVEPOINT pawl_send
