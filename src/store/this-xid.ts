/** The number of the present transaction, for `run_events.xid`. As a subselect it is asked for once in a statement; the column's default is asked once a row. */
export const THIS_XID = '(SELECT pg_current_xact_id()::text::bigint)'
