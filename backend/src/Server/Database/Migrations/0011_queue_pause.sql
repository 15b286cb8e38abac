-- When the timed pause of the queue ends (Unix milliseconds); null where there is none. One row.
CREATE TABLE queue_pause (
  until INTEGER
) STRICT;

INSERT INTO queue_pause (until) VALUES (NULL);
