-- breaking: no — new tables only

-- Rows are never deleted: that one exists is what closes the service to callers without a token, and the audit names them.
CREATE TABLE api_tokens (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- SHA-256 of the token, which itself is stored nowhere.
  token_hash bytea NOT NULL UNIQUE,
  role text NOT NULL,
  owner text NOT NULL,
  -- Of worker tokens: the queues they may take runs from; null for all.
  queues text[],
  created_at timestamptz NOT NULL DEFAULT clock(),
  created_by text NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT tokens_name CHECK (length(name) BETWEEN 1 AND 255),
  CONSTRAINT tokens_hash CHECK (length(token_hash) = 32),
  CONSTRAINT tokens_role CHECK (role IN ('viewer', 'submitter', 'worker', 'operator', 'admin')),
  CONSTRAINT tokens_owner CHECK (length(owner) BETWEEN 1 AND 255),
  CONSTRAINT tokens_queues CHECK (queues IS NULL OR (role = 'worker' AND cardinality(queues) BETWEEN 1 AND 100)),
  CONSTRAINT tokens_expiry CHECK (expires_at > created_at)
);

-- What a browser holds instead of a token. It is worth what its token is worth, and nothing once that one has ended.
CREATE TABLE api_sessions (
  session_hash bytea PRIMARY KEY,
  token_id uuid NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT sessions_hash CHECK (length(session_hash) = 32)
);

CREATE INDEX idx_sessions_expires ON api_sessions (expires_at);

-- Who did what to the service itself. The actor is a token, or null with the name of who acted without one.
CREATE TABLE audit_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock(),
  actor_token uuid,
  actor_owner text NOT NULL,
  action text NOT NULL,
  target text,
  data jsonb NOT NULL DEFAULT '{}',
  request_id text,
  CONSTRAINT audit_action CHECK (length(action) BETWEEN 1 AND 100)
);

CREATE TRIGGER tokens_identity AFTER UPDATE ON api_tokens FOR EACH ROW
  WHEN ((NEW.id, NEW.name, NEW.token_hash, NEW.role, NEW.owner, NEW.queues, NEW.created_at, NEW.created_by, NEW.expires_at)
    IS DISTINCT FROM
    (OLD.id, OLD.name, OLD.token_hash, OLD.role, OLD.owner, OLD.queues, OLD.created_at, OLD.created_by, OLD.expires_at)
    OR (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at))
  EXECUTE FUNCTION refuse_change('what a token may do never changes, and a revoked one stays revoked');
CREATE TRIGGER tokens_kept BEFORE DELETE ON api_tokens FOR EACH ROW
  EXECUTE FUNCTION refuse_change('tokens are revoked, not deleted');
CREATE TRIGGER tokens_not_truncated BEFORE TRUNCATE ON api_tokens FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('tokens are revoked, not deleted');

CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW
  EXECUTE FUNCTION refuse_change('the audit is append-only');
CREATE TRIGGER audit_not_truncated BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('the audit is append-only');
