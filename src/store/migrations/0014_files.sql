-- breaking: no — new tables only

-- Bytes that people uploaded, once each, however many uploaded them. `ref` is where they lie; it is the upload's own, so that bytes which are
-- deleted and come again never share a name.
CREATE TABLE files (
  id text PRIMARY KEY,
  bytes bigint NOT NULL,
  type text NOT NULL,
  ref text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When somebody who had it gave it up; then it is looked whether anybody still needs it.
  released_at timestamptz,
  CONSTRAINT files_id CHECK (id ~ '^[0-9a-f]{64}$'),
  CONSTRAINT files_bytes CHECK (bytes >= 0),
  CONSTRAINT files_ref UNIQUE (ref)
);
CREATE INDEX idx_files_released ON files (released_at) WHERE released_at IS NOT NULL;

-- Who may see a file: knowing its digest is no right to it. The foreign key keeps bytes that are being uploaded again from being collected.
CREATE TABLE owner_files (
  owner text NOT NULL,
  file_id text NOT NULL REFERENCES files,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (owner, file_id)
);
CREATE INDEX idx_owner_files_file ON owner_files (file_id);

CREATE TABLE batches (
  id uuid PRIMARY KEY,
  owner text NOT NULL,
  title text,
  created_at timestamptz NOT NULL
);
CREATE INDEX idx_batches_created ON batches (created_at, id);
CREATE INDEX idx_batches_owner ON batches (owner, created_at, id);

-- A file that was handed to a model by its upload: the same owner handing the same input in again makes no second run.
CREATE TABLE documents (
  owner text NOT NULL,
  payload_hash text NOT NULL,
  file_id text NOT NULL REFERENCES files,
  run_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (owner, payload_hash)
);
CREATE INDEX idx_documents_file ON documents (file_id);

-- One row for every upload, duplicates too. `key` makes a repeated request the same upload.
CREATE TABLE file_uploads (
  id uuid PRIMARY KEY,
  owner text NOT NULL,
  file_id text NOT NULL REFERENCES files,
  name text NOT NULL,
  -- What the bytes look like under this name. That of the file itself would tell what somebody else called it.
  type text NOT NULL DEFAULT 'application/octet-stream',
  batch_id uuid,
  run_id uuid,
  duplicate boolean NOT NULL,
  key text,
  created_at timestamptz NOT NULL,
  CONSTRAINT uploads_name CHECK (octet_length(name) BETWEEN 1 AND 1024)
);
CREATE UNIQUE INDEX idx_uploads_key ON file_uploads (owner, key) WHERE key IS NOT NULL;
CREATE INDEX idx_uploads_created ON file_uploads (created_at, id);
CREATE INDEX idx_uploads_owner ON file_uploads (owner, created_at, id);
CREATE INDEX idx_uploads_file ON file_uploads (file_id, owner, created_at);
CREATE INDEX idx_uploads_batch ON file_uploads (batch_id, duplicate) WHERE batch_id IS NOT NULL;

-- The files among the parameters of a run, part of its snapshot; as long as the run is there, so are the bytes.
CREATE TABLE run_files (
  run_id uuid NOT NULL,
  -- A JSON pointer into the parameters, such as /document or /pages/2.
  parameter text NOT NULL,
  file_id text NOT NULL REFERENCES files,
  name text NOT NULL,
  PRIMARY KEY (run_id, parameter)
);
CREATE INDEX idx_run_files_file ON run_files (file_id);

-- A run that goes on where a failed one stopped: the steps of `source_run_id` count as its own.
CREATE TABLE run_step_sources (
  run_id uuid PRIMARY KEY,
  source_run_id uuid NOT NULL,
  CONSTRAINT sources_other CHECK (run_id <> source_run_id)
);

-- Uploads that may be interrupted (tus). `received` grows by whole parts, each durable before it counts.
CREATE TABLE resumable_uploads (
  id uuid PRIMARY KEY,
  owner text NOT NULL,
  bytes bigint NOT NULL,
  received bigint NOT NULL DEFAULT 0,
  metadata jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Set once it has become a file.
  upload_id uuid,
  CONSTRAINT resumable_received CHECK (received BETWEEN 0 AND bytes)
);
CREATE INDEX idx_resumable_expires ON resumable_uploads (expires_at);
CREATE INDEX idx_resumable_open ON resumable_uploads (owner) WHERE upload_id IS NULL;
-- Complete and yet no file: being made one, or left behind by a process that died.
CREATE INDEX idx_resumable_complete ON resumable_uploads (expires_at) WHERE received = bytes AND upload_id IS NULL;

CREATE TABLE upload_parts (
  resumable_id uuid NOT NULL REFERENCES resumable_uploads ON DELETE CASCADE,
  from_byte bigint NOT NULL,
  bytes bigint NOT NULL,
  ref text NOT NULL,
  PRIMARY KEY (resumable_id, from_byte),
  CONSTRAINT parts_bytes CHECK (bytes > 0),
  CONSTRAINT parts_ref UNIQUE (ref)
);

-- Large logs of attempts that have ended: all their pieces in one blob, instead of rows of run_logs.
CREATE TABLE packed_logs (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  first_no integer NOT NULL,
  last_no integer NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  ref text NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, attempt),
  CONSTRAINT packed_logs_nos CHECK (first_no <= last_no)
);
CREATE INDEX idx_packed_logs_at ON packed_logs (last_at);
