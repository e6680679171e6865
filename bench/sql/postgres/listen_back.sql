-- listen_back: wakes when somebody notifies on the way back.
LISTEN back
