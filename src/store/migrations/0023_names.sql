-- breaking: no — names are looked up by all columns of these keys, and what a program calls a conflict does not depend on their order

-- A name is found by comparing it with others from the first column on. Owners and kinds are few, so nearly every comparison went through them to
-- the hash or the key behind; with these in front it ends there. A submit looks up each name twice: to see whether it is free, and to take it.
ALTER TABLE payload_slots DROP CONSTRAINT payload_slots_pkey, ADD PRIMARY KEY (payload_hash, owner);
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey, ADD PRIMARY KEY (key, owner, kind);
