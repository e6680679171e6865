-- project_vacuum: what the fold has left behind.
VACUUM pawl.perspective_tally
