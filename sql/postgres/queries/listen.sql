-- listen: this session is told when somebody is woken.
LISTEN "pawl.wake"
