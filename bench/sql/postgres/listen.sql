-- listen: wakes when somebody notifies.
LISTEN bench
