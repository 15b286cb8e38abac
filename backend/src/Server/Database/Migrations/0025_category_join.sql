-- What the next start has to do once. A new server has nothing to do.
CREATE TABLE pending_step (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Categories that are in use join api.categories.
INSERT INTO pending_step (name)
SELECT 'join-categories'
WHERE EXISTS (SELECT 1 FROM queue_item) OR EXISTS (SELECT 1 FROM history_item) OR EXISTS (SELECT 1 FROM release);
