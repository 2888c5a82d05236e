/**
 * The schema as text, read from the catalogs: the same text for the same schema on every Postgres from 14 on.
 *
 * It is made to be compared and read (schema.sql is its golden copy), not to be run. Each statement below gives rows of one `text`, in the order of
 * the names. The search path is emptied meanwhile, so that every name outside pg_catalog comes with its schema.
 */

import type pg from 'pg'

const TYPES = `
  SELECT format('CREATE TYPE %s AS ENUM (%s);', t.oid::regtype,
                string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)) AS text
  FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
  WHERE t.typnamespace = $1::regnamespace GROUP BY t.oid, t.typname ORDER BY t.typname`

const DOMAINS = `
  SELECT format('CREATE DOMAIN %s AS %s%s%s%s;', t.oid::regtype, format_type(t.typbasetype, t.typtypmod),
                ' DEFAULT ' || t.typdefault, CASE WHEN t.typnotnull THEN ' NOT NULL' END,
                (SELECT string_agg(' ' || pg_get_constraintdef(c.oid), '' ORDER BY c.conname)
                 FROM pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c')) AS text
  FROM pg_type t WHERE t.typnamespace = $1::regnamespace AND t.typtype = 'd' ORDER BY t.typname`

const FUNCTIONS = `
  SELECT trim(trailing E'\\n' FROM pg_get_functiondef(p.oid)) || ';' AS text
  FROM pg_proc p WHERE p.pronamespace = $1::regnamespace AND p.prokind IN ('f', 'p')
  ORDER BY p.proname, pg_get_function_identity_arguments(p.oid)`

/** Sequences that belong to a column (identity, serial) are told by that column. */
const SEQUENCES = `
  SELECT format('CREATE SEQUENCE %s AS %s INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s%s;', c.oid::regclass,
                format_type(s.seqtypid, NULL), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
                CASE WHEN s.seqcycle THEN ' CYCLE' END) AS text
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
  WHERE c.relnamespace = $1::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass
                    AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))
  ORDER BY c.relname`

const TABLES = `
  WITH columns AS (
    SELECT a.attrelid, string_agg(
      format(E'\\n  %I %s%s%s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attstorage <> t.typstorage THEN ' STORAGE ' || a.attstorage::text END,
        ' COMPRESSION ' || nullif(a.attcompression::text, ''),
        CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation END,
        CASE WHEN a.attidentity <> '' THEN ' GENERATED ' || CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END
                                           || ' AS IDENTITY'
             WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ')'
             ELSE ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) END,
        CASE WHEN a.attnotnull THEN ' NOT NULL' END), ',' ORDER BY a.attnum) AS list
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped
    GROUP BY a.attrelid)
  SELECT format(E'CREATE %sTABLE %s (%s\\n)%s%s%s%s;', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, c.oid::regclass,
                columns.list,
                ' PARTITION BY ' || pg_get_partkeydef(c.oid),
                (SELECT ' PARTITION OF ' || i.inhparent::regclass || ' ' || pg_get_expr(c.relpartbound, c.oid)
                 FROM pg_inherits i WHERE i.inhrelid = c.oid),
                ' WITH (' || (SELECT string_agg(o, ', ' ORDER BY o) FROM unnest(c.reloptions) o) || ')',
                ' TOAST (' || (SELECT string_agg(o, ', ' ORDER BY o) FROM unnest(toast.reloptions) o) || ')') AS text
  FROM pg_class c LEFT JOIN columns ON columns.attrelid = c.oid LEFT JOIN pg_class toast ON toast.oid = c.reltoastrelid
  WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname`

/** From version 18 on NOT NULL is a constraint too; the columns tell it already. */
const CONSTRAINTS = `
  SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s;', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS text
  FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
  WHERE r.relnamespace = $1::regnamespace AND c.contype NOT IN ('n', 't') ORDER BY r.relname, c.conname`

/** Indexes that carry a constraint are told by it. */
const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid) || ';' AS text
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class r ON r.oid = i.indrelid
  WHERE c.relnamespace = $1::regnamespace
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
  ORDER BY r.relname, c.relname`

const TRIGGERS = `
  SELECT pg_get_triggerdef(t.oid) || ';' || CASE t.tgenabled WHEN 'O' THEN '' ELSE ' -- enabled: ' || t.tgenabled::text END AS text
  FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid
  WHERE r.relnamespace = $1::regnamespace AND NOT t.tgisinternal ORDER BY r.relname, t.tgname`

/** From version 16 on needless qualifiers are left out of this text; views over several tables are the same everywhere. */
const VIEWS = `
  SELECT format(E'CREATE %sVIEW %s AS\\n%s', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED ' END, c.oid::regclass,
                pg_get_viewdef(c.oid)) AS text
  FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('v', 'm') ORDER BY c.relname`

const COMMENTS = `
  SELECT format('COMMENT ON %s %s IS %L;', upper(o.type), o.identity, d.description) AS text
  FROM pg_description d CROSS JOIN pg_identify_object(d.classoid, d.objoid, d.objsubid) o
  WHERE o.schema = $1 ORDER BY o.type, o.identity`

const SECTIONS = [TYPES, DOMAINS, SEQUENCES, TABLES, CONSTRAINTS, INDEXES, VIEWS, FUNCTIONS, TRIGGERS, COMMENTS]

export async function dumpSchema(client: pg.ClientBase, schema = 'holdfast'): Promise<string> {
  await client.query(`BEGIN READ ONLY; SET LOCAL search_path = ''`)
  try {
    const texts: string[] = []
    for (const section of SECTIONS) {
      const { rows } = await client.query<{ text: string }>(section, [schema])
      texts.push(...rows.map(({ text }) => text))
    }
    return `${texts.join('\n\n')}\n`
  } finally {
    await client.query('ROLLBACK')
  }
}
