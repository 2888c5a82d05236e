/**
 * The statements of a claim in a queue with fair share.
 *
 * The owners with the lowest pass are looked at, as many as can get a run and some more. Stride scheduling gives the nth run of an owner
 * the tag `pass + (n - 1) / weight`, and the lowest tags win. That is computed for all at once: each owner's next runs are peeked at without
 * locks, numbered by priority and age, and the best are then locked and taken. In the same statement the pass of
 * each owner goes on by what was taken.
 *
 * Owners' rows are locked with SKIP LOCKED. Where owners were left out, because they were locked or too many, nobody gets past the highest
 * pass that was seen, so that they lose nothing by it; the caller asks again for the slots that are left.
 *
 * Joins of one intermediate table with another would be loops over both, so sums are made by UNION ALL and GROUP BY, and windows.
 */

import { AFTER_AT, AFTER_ID, CLAIMED_COLUMNS, makeRunning, NAME_PICKED, notPaused, ready } from './claim-statements.ts'

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
), level AS MATERIALIZED (
  -- Owners of a model that nobody served for long do not catch up: they may be behind those of other models by two steps, not more.
  SELECT max(lowest) - 2 / LEAST(1, (SELECT min(weight) FROM queue_weights WHERE queue = $2)) AS pass
  FROM (SELECT min(pass) AS lowest FROM listed GROUP BY no) by_model
), seen AS MATERIALIZED (
  SELECT row, owner, GREATEST(pass, (SELECT pass FROM level)) AS pass FROM listed ORDER BY 3, 2 LIMIT $7
), held AS MATERIALIZED (
  SELECT f.ctid AS row, f.model, f.model_version, f.owner, f.pass, f.leaving FROM fair_owners f
  WHERE f.ctid = ANY (ARRAY(SELECT row FROM seen)) FOR NO KEY UPDATE SKIP LOCKED
), turn AS MATERIALIZED (
  -- A row that has changed since it was seen is left out like a locked one. CASE keeps this from becoming a join.
  SELECT row, model, model_version, owner, pass, leaving,
    GREATEST(max(pass) OVER (PARTITION BY owner), (SELECT pass FROM level)) AS owner_pass,
    COALESCE((SELECT w.weight FROM queue_weights w WHERE w.queue = $2 AND w.owner = held.owner), 1) AS weight,
    LEAST($1::int, GREATEST(2, $8::int, 1 + 5 * $1 / (4 * count(*) OVER ())))::int AS most
  FROM held WHERE CASE WHEN row IN (SELECT row FROM seen) THEN true ELSE false END
), reach AS MATERIALIZED (
  SELECT seen, held, seen >= $7 AS cut, CASE WHEN seen >= $7 OR held < seen THEN highest ELSE 'Infinity' END AS tag
  FROM (SELECT count(*)::int AS seen, max(pass) AS highest, (SELECT count(*)::int FROM turn) AS held FROM seen) counted
)`

// Of a lane l: the place that claims have come to.
const AT_US = `($6::jsonb->l.lane::text->>0)::bigint`
const ID = `($6::jsonb->l.lane::text->>1)::uuid`

// No owner gets more than `most` at once: of those the order among its lanes is known. One more tells whether that is all.
const picked = (hasRooms: boolean) => `
peek AS MATERIALIZED (
  SELECT t.row AS owner_row, t.owner, t.owner_pass, t.weight, t.most, k.no, k.room, r.row,
    row_number() OVER (PARTITION BY t.owner ORDER BY l.priority DESC, r.available_at, r.id) AS place
  FROM turn t JOIN kind k USING (model, model_version)
  JOIN lanes l ON l.queue = $2 AND l.model = t.model AND l.model_version = t.model_version AND l.owner = t.owner
  CROSS JOIN LATERAL (
    SELECT id, ctid AS row, available_at FROM model_runs
    ${ready('l.lane', AFTER_AT(AT_US), AFTER_ID(ID))}
    ORDER BY available_at, id LIMIT t.most + 1
  ) r
), tagged AS (
  SELECT *, owner_pass + (place - 1) / $8 * $8 / weight AS tag FROM peek WHERE place <= most
), cut AS MATERIALIZED (
  -- Whatever comes after a run that its owner cannot get in this round has to wait for the next one.
  SELECT min(owner_pass + most / $8 * $8 / weight) AS tag FROM peek WHERE place = most + 1
), fits AS (
  SELECT *${hasRooms ? ', row_number() OVER (PARTITION BY no ORDER BY tag, owner, place) AS model_place' : ''}
  FROM tagged WHERE tag <= (SELECT tag FROM reach) AND tag < COALESCE((SELECT tag FROM cut), 'Infinity')
), best AS MATERIALIZED (
  SELECT row, owner_row FROM fits ${hasRooms ? 'WHERE room IS NULL OR model_place <= room' : ''} ORDER BY tag, owner, place LIMIT $1
), picked AS MATERIALIZED (
  -- A run that somebody has taken since it was peeked at, or is about to, is left out: it is one less of its owner.
  SELECT id, ctid AS row FROM model_runs
  WHERE ctid = ANY (ARRAY(SELECT row FROM best)) AND status = 'PENDING' AND available_at <= clock() FOR UPDATE SKIP LOCKED
)`

// A row is deleted only by a claim that began when the mark was there already. A submit that saw no mark had its run committed before the
// mark was, so such a claim sees the run.
const MOVED = `
missing AS MATERIALIZED (
  SELECT (SELECT count(*) FROM best) > (SELECT count(*) FROM picked) AS lost
), taken AS (
  -- Only when some were missing it has to be seen which.
  SELECT owner_row FROM best WHERE NOT (SELECT lost FROM missing)
  UNION ALL
  SELECT max(owner_row) FROM (SELECT row, owner_row FROM best UNION ALL SELECT row, NULL FROM picked) run
  WHERE (SELECT lost FROM missing) GROUP BY row HAVING count(*) > 1
), counted AS (
  SELECT row, pass, leaving, owner, owner_pass, weight, 0 AS peeked, 0 AS taken FROM turn
  UNION ALL SELECT owner_row, NULL, NULL, NULL, NULL, NULL, 1, 0 FROM peek
  UNION ALL SELECT owner_row, NULL, NULL, NULL, NULL, NULL, 0, 1 FROM taken
), ended AS MATERIALIZED (
  SELECT row, max(pass) AS pass_before, bool_or(leaving) AS was_leaving, sum(peeked) AS peeked,
    sum(peeked) = sum(taken) AS is_leaving,
    max(owner_pass) + sum(sum(taken)) OVER (PARTITION BY max(owner)) / max(weight) AS pass
  FROM counted GROUP BY row
), moved AS (
  UPDATE fair_owners f SET pass = e.pass, leaving = e.is_leaving FROM ended e
  WHERE f.ctid = e.row AND NOT (e.peeked = 0 AND e.was_leaving) AND (e.pass, e.is_leaving) IS DISTINCT FROM (e.pass_before, e.was_leaving)
), removed AS (
  DELETE FROM fair_owners WHERE ctid = ANY (ARRAY(SELECT row FROM ended WHERE peeked = 0 AND was_leaving))
), facts AS (
  SELECT seen, held, cut, (SELECT count(*)::int FROM ended WHERE NOT is_leaving) AS unfinished, (SELECT owner FROM seen LIMIT 1) AS someone,
    (SELECT lost FROM missing) AS missed
  FROM reach
)`

/**
 * Always answers at least one row, without a run when none was taken; the first says what else was found. After the picking as in any claim: worker,
 * lease, engines. Without models that have a limit of room, one sort less.
 */
export const CLAIM_FAIR = claimFair(false)
export const CLAIM_FAIR_IN_ROOMS = claimFair(true)

function claimFair(hasRooms: boolean): { claim: { name: string; text: string }; pick: string } {
  const text = `${SEEN}, ${picked(hasRooms)}, ${makeRunning('$9', '$10', '$11')}, ${MOVED}
SELECT ${CLAIMED_COLUMNS}, CASE WHEN id IS NOT DISTINCT FROM (SELECT id FROM claimed LIMIT 1) THEN to_json(facts) END AS facts
FROM facts LEFT JOIN claimed ON true`
  return {
    claim: { name: hasRooms ? 'claim_fair_in_rooms' : 'claim_fair', text },
    pick: `${SEEN}, ${picked(hasRooms)} ${NAME_PICKED}`,
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
