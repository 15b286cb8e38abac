-- Who may change this server. The one administrator; no row until setup has made the login.
CREATE TABLE admin_account (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  password TEXT NOT NULL,      -- hashed (CFG-51)
  step TEXT NOT NULL           -- how far the checklist of the setup is
) STRICT;

-- Sessions of browsers, by the SHA-256 of the cookie.
CREATE TABLE admin_session (
  hash TEXT PRIMARY KEY,
  used_at INTEGER NOT NULL     -- Unix milliseconds, to the day
) STRICT, WITHOUT ROWID;

-- Named keys of scripts, by their SHA-256.
CREATE TABLE admin_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  full_access INTEGER NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  used_at INTEGER              -- to the hour
) STRICT;

-- Cookies ignore ports: servers of one host tell theirs apart by this.
CREATE TABLE instance (
  id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO instance (id) VALUES (lower(hex(randomblob(4))));
