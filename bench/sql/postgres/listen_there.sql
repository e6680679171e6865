-- listen_there: wakes when somebody notifies on the way there.
LISTEN there
