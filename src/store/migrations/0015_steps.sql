-- breaking: no — new columns without a value, and an index of rows that older programs do not write

-- `item_of` and `item_no` are for the items of a map: the step `pages[17]` is item 17 of `pages`. `named_upto` and `bytes_upto` count named steps
-- and bytes of outputs up to and with this one, so that a limit is held by looking at the last row alone; rows of older programs have none.
ALTER TABLE run_steps
  ADD COLUMN cpu_seconds double precision,
  ADD COLUMN peak_memory_bytes bigint,
  ADD COLUMN item_of text,
  ADD COLUMN item_no integer,
  ADD COLUMN named_upto integer,
  ADD COLUMN bytes_upto bigint,
  ADD CONSTRAINT steps_item CHECK ((item_of IS NULL) = (item_no IS NULL));
CREATE INDEX idx_steps_item ON run_steps (run_id, item_of, item_no) WHERE item_of IS NOT NULL;

-- What the steps of the attempt that are not done stood like at the last look, for people.
ALTER TABLE run_attempts ADD COLUMN step_states jsonb;
