-- A category is also listed by the size of its releases.
CREATE INDEX release_size ON release (category, bytes);
