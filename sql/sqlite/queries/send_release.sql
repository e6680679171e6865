-- send_release: keeps what a send inside somebody else's transaction wrote.
RELEASE pawl_send
