/**
 * The statements of a claim in a queue with fair share.
 *
 * The owners with the lowest pass are looked at, as many as can get a run and some more. Stride scheduling gives the nth run of an owner
 * the tag `pass + (n - 1) / weight`, and the lowest tags win. From that follows the share of each owner, as if all of them had runs enough.
 * So many of its next runs, by priority and age, are locked and taken. In the same statement the pass of each owner goes on by what was
 * taken. Who had less than its share leaves slots free, and the caller asks again for those: in the end the lowest tags have won.
 *
 * Owners' rows are locked with SKIP LOCKED. Where owners were left out, because they were locked or too many, nobody gets past the highest
 * pass that was seen, so that they lose nothing by it.
 *
 * Joins of one intermediate table with another would be loops over both. So rows, owners and lanes are numbered, and what was counted for
 * them is put into arrays, where it is found by number.
 */

import {
  AFTER_AT,
  AFTER_ID,
  CLAIMED_COLUMNS,
  makeRunning,
  NAMED_COLUMNS,
  notPaused,
  ready,
} from './claim-statements.ts'
import { CLAIMED_VALUES } from './claimed-lease.ts'

// $1: slots, $2: queue, $3–$5: names, versions and rooms of the models, $6: places in lanes, $7: how many owners are looked
// at, $8: how many runs an owner is served at a time.
const KIND = `
WITH kind AS MATERIALIZED (
  SELECT k.model, k.model_version, k.room, k.no
  FROM unnest($3::text[], $4::text[], $5::int[]) WITH ORDINALITY AS k(model, model_version, room, no)
  WHERE ${notPaused('$2::text')}
)`

const SEEN = `${KIND}, listed AS MATERIALIZED (
  SELECT k.no, o.row, o.owner, o.pass FROM kind k CROSS JOIN LATERAL (
    SELECT f.ctid AS row, f.owner, f.pass FROM fair_owners f
    WHERE f.queue = $2 AND f.model = k.model AND f.model_version = k.model_version
    ORDER BY f.pass, f.owner LIMIT LEAST($7::int, k.room + 4)
  ) o
), weighed AS MATERIALIZED (
  SELECT min(weight) AS lightest FROM queue_weights WHERE queue = $2
), level AS MATERIALIZED (
  -- Owners of a model that nobody served for long do not catch up: they may be behind those of other models by two steps, not more.
  SELECT max(lowest) - 2 / LEAST(1, (SELECT lightest FROM weighed)) AS pass FROM (SELECT min(pass) AS lowest FROM listed GROUP BY no) by_model
), seen AS MATERIALIZED (
  SELECT row, owner, GREATEST(pass, (SELECT pass FROM level)) AS pass FROM listed ORDER BY 3, 2 LIMIT $7
), held AS MATERIALIZED (
  SELECT seen.row AS seen_row, now.* FROM seen CROSS JOIN LATERAL (
    SELECT f.ctid AS row, f.model, f.model_version, f.owner, f.pass, f.leaving FROM fair_owners f
    WHERE f.ctid = seen.row FOR NO KEY UPDATE SKIP LOCKED
  ) now
), turn AS MATERIALIZED (
  -- A row that has changed since it was seen is left out like a locked one.
  SELECT row, model, model_version, owner, pass, leaving, row_number() OVER in_order AS no, dense_rank() OVER in_order AS owner_no,
    GREATEST(max(pass) OVER of_owner, (SELECT pass FROM level)) AS owner_pass, bool_and(leaving) OVER of_owner AS has_nothing,
    row_number() OVER of_owner = 1 AS is_first,
    -- Most queues have no weights at all.
    CASE WHEN (SELECT lightest FROM weighed) IS NULL THEN 1
      ELSE COALESCE((SELECT w.weight FROM queue_weights w WHERE w.queue = $2 AND w.owner = held.owner), 1) END AS weight
  FROM held WHERE row = seen_row WINDOW in_order AS (ORDER BY owner), of_owner AS (PARTITION BY owner)
), reach AS MATERIALIZED (
  SELECT seen, held, seen >= $7 AS cut, CASE WHEN seen >= $7 OR held < seen THEN highest ELSE 'Infinity' END AS tag
  FROM (SELECT count(*)::int AS seen, max(pass) AS highest, (SELECT count(*)::int FROM turn) AS held FROM seen) counted
)`

// Slots are given away in helpings of $8 runs. Of each owner so many are looked at as make a quarter more than its part of the slots; whatever comes
// after the first that was not looked at waits for the next round. Who seemed to have nothing left gets none: when it has a run after all, the
// mark is taken away and the next round serves it.
const SHARE = `
line AS MATERIALIZED (
  SELECT owner_no, owner_pass, weight, has_nothing,
    ceil(LEAST($1::int, GREATEST(2, 1 + 1.25 * $1::int * weight / (SELECT sum(weight) FROM turn WHERE is_first AND NOT has_nothing))) / $8::int)::int
      AS helpings
  FROM turn WHERE is_first
), near AS MATERIALIZED (
  SELECT min(owner_pass + helpings * $8::int / weight) AS ends_at, (SELECT tag FROM reach) AS reach FROM line WHERE NOT has_nothing
), helping AS (
  SELECT owner_no, tag <= (SELECT reach FROM near) AND tag < (SELECT ends_at FROM near) AS is_near,
    row_number() OVER (ORDER BY tag, owner_no) - 1 AS before
  FROM (
    SELECT owner_no, CASE WHEN has_nothing THEN 'Infinity' ELSE owner_pass + h * $8::int / weight END AS tag
    FROM line CROSS JOIN generate_series(0, CASE WHEN has_nothing THEN 0 ELSE helpings - 1 END) AS h
  ) tagged
), share AS MATERIALIZED (
  SELECT array_agg(runs ORDER BY owner_no) AS runs FROM (
    SELECT owner_no, sum(CASE WHEN is_near THEN GREATEST(0, LEAST($8::int, $1::int - $8::int * before)) ELSE 0 END)::int AS runs
    FROM helping GROUP BY owner_no
  ) owner
)`

// Of a lane l: the place that claims have come to.
const AT_US = `($6::jsonb->l.lane::text->>0)::bigint`
const ID = `($6::jsonb->l.lane::text->>1)::uuid`

// An owner with one lane takes its share from there. Of an owner with several the next runs are peeked at, without locks, to divide the share by
// priority and age. With limits of room all are peeked at, and the lowest tags of a model get its room.
const lanes = (hasRooms: boolean) => `
lane AS MATERIALIZED (
  SELECT t.*, l.lane, l.priority, l.after_at, l.after_id, row_number() OVER () AS lane_no,
    ${hasRooms ? 'k.no AS model_no, k.room, true' : 'count(*) OVER (PARTITION BY t.owner_no) > 1'} AS is_divided
  FROM (SELECT *, (SELECT runs FROM share)[owner_no] AS runs FROM turn) t
    ${hasRooms ? 'JOIN kind k USING (model, model_version)' : ''}
    CROSS JOIN LATERAL (
      SELECT l.lane, l.priority, ${AFTER_AT(AT_US)} AS after_at, ${AFTER_ID(ID)} AS after_id FROM lanes l
      WHERE l.queue = $2 AND l.model = t.model AND l.model_version = t.model_version AND l.owner = t.owner
    ) l
), divided AS MATERIALIZED (
  SELECT array_agg(runs ORDER BY lane_no) AS runs FROM (
    SELECT lane_no, (count(*) FILTER (WHERE is_best ${hasRooms ? 'AND (room IS NULL OR model_place <= room)' : ''}))::int AS runs
    FROM (${hasRooms ? PLACED_IN_ROOMS : PLACED}) placed GROUP BY lane_no
  ) counted
)`

// A lane without a run has one row here.
const PLACED = `
  SELECT *, id IS NOT NULL AND place <= runs AS is_best FROM (
    SELECT lane.*, r.id, row_number() OVER (PARTITION BY owner_no ORDER BY r.id IS NULL, priority DESC, r.available_at, r.id) AS place
    FROM lane LEFT JOIN LATERAL (
      SELECT id, available_at FROM model_runs ${ready('lane.lane', 'lane.after_at', 'lane.after_id')}
      ORDER BY available_at, id LIMIT CASE WHEN is_divided THEN runs ELSE 0 END
    ) r ON true
  ) peeked`
const PLACED_IN_ROOMS = `
  SELECT *, row_number() OVER (
    PARTITION BY model_no ORDER BY NOT is_best, owner_pass + (place - 1) / $8::int * $8::int / weight, owner_no, place
  ) AS model_place FROM (${PLACED}) placed`

/** An owner who gets so many from a lane is not asked whether it has more: to pass by that many costs more than a turn in which it has nothing. */
const MANY = 8

// Whether there is more is null where it was not asked: then who got all it was to get counts as having more.
const PICKED = `
part AS MATERIALIZED (
  SELECT *, CASE WHEN runs < ${MANY} THEN EXISTS (
    SELECT FROM model_runs ${ready('part.lane', 'part.after_at', 'part.after_id')} ORDER BY available_at, id OFFSET part.runs
  ) END AS has_more
  FROM (
    SELECT no, lane, after_at, after_id, CASE WHEN is_divided THEN (SELECT runs FROM divided)[lane_no] ELSE runs END AS runs FROM lane
  ) part
), picked AS MATERIALIZED (
  SELECT no, runs, has_more, ARRAY(
    SELECT ctid FROM model_runs ${ready('part.lane', 'part.after_at', 'part.after_id')}
    ORDER BY available_at, id LIMIT part.runs FOR UPDATE SKIP LOCKED
  ) AS rows FROM part
)`
const PICKED_ROWS = 'SELECT unnest(rows) AS row FROM picked'

// A row is deleted only by a claim that began when the mark was there already. A submit that saw no mark had its run committed before the
// mark was, so such a claim sees the run. And only by one that saw no run at all: one that it tried to take is somebody else's for now.
const MOVED = `
took AS MATERIALIZED (
  SELECT array_agg(taken ORDER BY no) AS taken, array_agg(tried ORDER BY no) AS tried, array_agg(has_more ORDER BY no) AS has_more FROM (
    SELECT no, sum(taken)::int AS taken, sum(tried)::int AS tried,
      bool_or(has_more) OR (sum(taken) >= sum(tried) AND bool_or(has_more IS NULL)) AS has_more
    FROM (
      SELECT no, cardinality(rows) AS taken, runs AS tried, has_more FROM picked
      UNION ALL
      SELECT no, 0, 0, false FROM turn
    ) fact GROUP BY no
  ) counted
), ended AS MATERIALIZED (
  SELECT row, pass AS pass_before, owner_pass + sum(taken) OVER (PARTITION BY owner_no) / weight AS pass, leaving AS was_leaving,
    NOT has_more AS is_leaving, leaving AND NOT has_more AND tried = 0 AS has_left
  FROM (
    SELECT *, (SELECT taken FROM took)[no] AS taken, (SELECT tried FROM took)[no] AS tried, (SELECT has_more FROM took)[no] AS has_more FROM turn
  ) counted
), moved AS (
  UPDATE fair_owners f SET pass = e.pass, leaving = e.is_leaving FROM ended e
  WHERE f.ctid = e.row AND NOT e.has_left AND (e.pass, e.is_leaving) IS DISTINCT FROM (e.pass_before, e.was_leaving)
), removed AS (
  DELETE FROM fair_owners WHERE ctid = ANY (ARRAY(SELECT row FROM ended WHERE has_left))
), facts AS (
  SELECT seen, held, cut, (SELECT count(*)::int FROM ended WHERE NOT is_leaving) AS unfinished,
    (SELECT count(*)::int FROM ended WHERE has_left OR is_leaving <> was_leaving) AS changed,
    (SELECT owner FROM seen WHERE row NOT IN (SELECT row FROM turn) LIMIT 1) AS locked
  FROM reach
)`

const NO_RUN = Array.from({ length: CLAIMED_VALUES }, () => 'NULL').join(', ')

/** The last row is none of a run: it says what else was found. After the picking as in any claim: worker, lease, engines. */
export const CLAIM_FAIR = claimFair(false)
export const CLAIM_FAIR_IN_ROOMS = claimFair(true)

function claimFair(hasRooms: boolean) {
  const pick = `${SEEN}, ${SHARE}, ${lanes(hasRooms)}, ${PICKED}`
  const text = `${pick}, ${makeRunning('$9', '$10', '$11', PICKED_ROWS)}, ${MOVED}
SELECT ${CLAIMED_COLUMNS}, NULL::json AS facts FROM claimed
UNION ALL SELECT ${NO_RUN}, to_json(facts) FROM facts`
  return {
    claim: { name: hasRooms ? 'claim_fair_in_rooms' : 'claim_fair', text },
    pick: `${pick} SELECT ${NAMED_COLUMNS} FROM (${PICKED_ROWS}) p JOIN model_runs r ON r.ctid = p.row`,
  }
}

// An owner who waits alone shares with nobody, and who comes starts at its pass wherever that is: so neither lock nor pass is needed, and
// claims side by side do not wait for each other. With one lane there is nothing to put in order either.
const PICKED_ALONE = `
waiting AS MATERIALIZED (
  SELECT k.model, k.model_version, k.room, o.owner FROM kind k CROSS JOIN LATERAL (
    SELECT f.owner FROM fair_owners f WHERE f.queue = $2 AND f.model = k.model AND f.model_version = k.model_version LIMIT 2
  ) o LIMIT 2
), lane AS MATERIALIZED (
  SELECT l.lane, l.priority, LEAST($1::int, w.room) AS slots, ${AFTER_AT(AT_US)} AS after_at, ${AFTER_ID(ID)} AS after_id
  FROM waiting w JOIN lanes l ON l.queue = $2 AND l.model = w.model AND l.model_version = w.model_version AND l.owner = w.owner
  WHERE (SELECT count(*) FROM waiting) = 1
), best AS (
  SELECT lane.lane FROM lane CROSS JOIN LATERAL (
    SELECT id, available_at FROM model_runs
    ${ready('lane.lane', 'lane.after_at', 'lane.after_id')}
    ORDER BY available_at, id LIMIT lane.slots
  ) r
  WHERE (SELECT count(*) FROM lane) > 1
  ORDER BY lane.priority DESC, r.available_at, r.id LIMIT (SELECT min(slots) FROM lane)
), share AS MATERIALIZED (
  SELECT lane.*, CASE (SELECT count(*) FROM lane) WHEN 1 THEN slots ELSE (SELECT count(*) FROM best WHERE best.lane = lane.lane) END AS runs
  FROM lane
), picked AS MATERIALIZED (
  SELECT r.id, r.row FROM share CROSS JOIN LATERAL (
    SELECT id, ctid AS row FROM model_runs
    ${ready('share.lane', 'share.after_at', 'share.after_id')}
    ORDER BY available_at, id LIMIT share.runs FOR UPDATE SKIP LOCKED
  ) r
)`

/** Takes nothing where several owners wait. $7 and $8 are not among its values. */
export const CLAIM_ALONE = {
  name: 'claim_alone',
  text: `${KIND}, ${PICKED_ALONE}, ${makeRunning('$7', '$8', '$9')} SELECT ${CLAIMED_COLUMNS} FROM claimed`,
}

/** For runs that were claimed one by one: $2 names their owners, each as often as it got one. */
export const MOVE_ON = `
UPDATE fair_owners f SET pass = f.pass + t.runs / COALESCE((SELECT w.weight FROM queue_weights w WHERE w.queue = $1 AND w.owner = f.owner), 1)
FROM (SELECT owner, count(*) AS runs FROM unnest($2::text[]) AS o(owner) GROUP BY owner ORDER BY owner) t
WHERE f.queue = $1 AND f.owner = t.owner`

/** Waits until whoever has locked the owner's rows is done. */
export const WAIT_FOR_OWNER =
  'SELECT FROM fair_owners WHERE queue = $1 AND owner = $2 ORDER BY model, model_version FOR SHARE'
