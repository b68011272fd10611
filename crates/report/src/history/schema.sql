-- The history of campaigns. Times are seconds since 1970, UTC.

-- A campaign. `key` is what it is known by when its folder is entered again.
CREATE TABLE run (
  number   INTEGER PRIMARY KEY,
  key      TEXT NOT NULL UNIQUE,
  started  INTEGER NOT NULL,
  folder   TEXT NOT NULL,
  ptxsmith TEXT NOT NULL,
  build    TEXT,
  command  TEXT NOT NULL,
  seed     TEXT NOT NULL,
  complete INTEGER NOT NULL,
  compared INTEGER NOT NULL,
  conform  INTEGER NOT NULL
) STRICT;

-- An implementation that a campaign tested.
CREATE TABLE subject (
  run      INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  place    INTEGER NOT NULL,
  id       TEXT NOT NULL,
  version  TEXT,
  lineage  TEXT,
  sha256   TEXT,
  compared INTEGER NOT NULL,
  conform  INTEGER NOT NULL,
  PRIMARY KEY (run, id)
) STRICT;

-- A distinct deviation that a campaign reports: 'new', 'known', or 'gone'.
CREATE TABLE finding (
  run     INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  id      TEXT NOT NULL,
  status  TEXT NOT NULL,
  class   TEXT NOT NULL,
  title   TEXT NOT NULL,
  count   INTEGER NOT NULL,
  program TEXT NOT NULL,
  PRIMARY KEY (run, id)
) STRICT;

CREATE INDEX finding_by_id ON finding (id);

-- Which implementations show it.
CREATE TABLE shows (
  run     INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  finding TEXT NOT NULL,
  subject TEXT NOT NULL,
  PRIMARY KEY (run, finding, subject)
) STRICT;
