import { PosthornError } from '../../src/errors.ts'

/**
 * The layout. Every key begins with the hash tag of the namespace, `{posthorn}` by default, and a colon. `zset of ids`
 * has equal scores, so Redis orders it by id, bytewise, which is the order of every list.
 *
 * No id makes a key that another row owns. An id stands at the end of a key, and no name before an id is the beginning
 * of another such name. The only exception is the index of an event's attempts: see `nameOfEvent` in event-script.ts.
 *
 * The tag names a shard. Today there is one shard. With several, `{posthorn:7}` will hold what belongs to a workspace
 * or an endpoint, and `{posthorn}` what is common: workspaces, names, holders, routes, turns. No key changes its name
 * then.
 *
 * Configuration: one hash a row, replaced whole; its fields are room, revision and row (JSON).
 *
 *     revision                  counter   what all revisions come from, so none ever returns
 *     workspaces                zset of ids
 *     workspaces:<id>           hash      room: a number that no other workspace ever had
 *     names                     hash      workspace name -> id
 *     room:<n>                  hash      id, revision, patterns (how many all endpoints have), counted (the revision at which patterns is right); gone when the workspace is deleted, and with it all that is below
 *     room:<n>:<kind>           zset of ids, for endpoints, sources, plugins
 *     <kind>:<id>               hash      + keys (JSON: the unique keys it holds), enabled; endpoints: url, patterns (count), disabled_at; plugins: endpoint_id, source_id
 *     holders                   hash      unique key (JSON) -> id of the row that holds it
 *     plugins-of:<kind>:<id>    set       plugins of an owner
 *     routes                    zset of ids of enabled sources, of all workspaces, for the version before
 *     routes-revision           string, for the version before
 *
 * Events and attempts:
 *
 *     event:<name>              hash      room, row (JSON without data), data, type, unique_id, created, trace, open (count)
 *     event:<name>:attempts     zset of ids
 *     attempt:<id>              hash      room, event (its name), endpoint, due, created, status, planned (JSON); once ended: ended, details (JSON); later: in which lists it is while it is open
 *     room:<n>:events, :events:type:<type>
 *     room:<n>:events:astray    zset      events whose id tells nothing of their time, by created_at
 *     room:<n>:attempts, :attempts:endpoint:<id>, :attempts:status:<status>, :attempts:undelivered, :attempts:astray (ids that tell nothing of the time)      zsets of ids
 *     room:<n>:attempts:skewed  zset      ids that were not made with the attempt, or of attempts due before they were made
 *     room:<n>:attempts:wait:<class>      zset      ids of attempts that are due a second or more after they were made, by how long after: eight classes for each power of two
 *     room:<n>:attempts:waits   set       classes that have attempts
 *     room:<n>:later:<endpoint> zset      attempts that were not made with their event, as "<event> <attempt>" by the event's created_at; so are those that follow
 *     room:<n>:failed, :canceled, :answered-<status>      exhausted attempts, canceled ones, and failed ones with an answer; each also behind the id of an endpoint (failed:<endpoint>)
 *     room:<n>:retrying, :pending         open attempts not made with their event, by whether a try failed before, in both where that is not known; each also of an endpoint
 *     lists-whole               string    when this version last said that these lists miss nothing
 *     lists-fill                hash      how far filling them has come: workspace, position, missing (found in this pass), passed (when the pass before ended)
 *     room:<n>:unique-ids       hash      unique_id -> name of the event
 *     open                      zset      open attempts by due time: where lost jobs are found
 *     finished                  zset      finished attempts by created_at, for retention
 *     idle                      zset      names of events without open attempts by created_at, for retention
 *     unwritten:<name>          list      texts of attempts of an event that are still to be written: see wide-events.ts
 *     unfinished                zset      names of these events by created_at
 *     condemned                 zset      rooms of deleted workspaces in the order of deletion, until they are purged
 *     tallies, tally:<minute>   what the version before counted, for a week
 *     turns                     hash      name -> the period last taken
 *     probe                     string    what a ping writes
 *
 * Statistics (see core/notes.ts). Times are where a minute, an hour or a day begins, unix milliseconds:
 *
 *     notes                     list      what settlements left to be counted: one element for each script that settled
 *     notes-folded              counter   elements of that list that were folded so far
 *     additions                 list      what these come to, until it is added to sums: see add-sums.ts
 *     counted                   zset of rooms that have sums
 *     room:<n>:minutes          zset      times that have sums; also hours, days
 *     room:<n>:minute:<time>    hash      endpoint -> numbers, with commas between them
 *     room:<n>:hour:<time>      hash      endpoint and event type as JSON -> numbers; also day
 *     room:<n>:types            hash      event type -> the hour in which it was counted last
 *     room:<n>:streaks          hash      endpoint -> succeeded_at, failed_at, failures, exhausted and attempt, with commas between them
 *     causes:<kind>             hash      id -> cause (JSON)
 *     causes:<kind>:ids         zset      these ids
 *     processes                 hash      id -> process (JSON)
 *     keyed:<name>              hash      workspace and Idempotency-Key as JSON: hash, token, begun, lease (empty once answered), note; Redis forgets it after a day
 *
 * Queue, inbox and limiter are described in queue-script.ts, inbox.ts and limiter.ts.
 *
 * A script is given at most 500 entries and walks at most 1,000 elements, with two exceptions, which must be one step: a
 * config sync and the deletion of a workspace (its configuration rows). Lists are walked in several reads: a row written
 * meanwhile may be in the page or not; no row is in it twice.
 * Times and further filters are asked of each row of the narrowest index, until the page is full; for a total, of all.
 *
 * Durability is what the server's persistence is set to. Recommended: `appendonly yes`, `appendfsync always`, which
 * loses nothing that was acknowledged, and `maxmemory-policy noeviction`, without which Redis deletes what it likes.
 * With `everysec` nothing is lost when the server is killed, and up to two seconds of what was acknowledged when the
 * machine loses its power. Beside another storage queue and limiter may be lost whole, since workers put overdue jobs
 * back from storage; the inbox may not: it holds what async sources accepted and nobody stored yet.
 *
 * Memory, measured on Redis 7.0 with 1 KiB of data: 2.4 KiB an event, 1.7 KiB more for each open attempt, 2.7 KiB more
 * for each finished attempt with its recorded request and answer. Retention keeps that bounded.
 */

/** The hash tag at the beginning of every key of a namespace. A cluster keeps them all on one node. */
export function tagOf(namespace: string): string {
  if (!/^[A-Za-z0-9_.:-]{1,64}$/.test(namespace)) {
    throw new PosthornError('validation', 'redis: namespace must match [A-Za-z0-9_.:-]{1,64}')
  }
  return `{${namespace}}`
}

/** Channels of the hints: jobs were added, messages were put, configuration changed. */
export const addedChannel = (tag: string): string => `${tag}:added`
export const putChannel = (tag: string): string => `${tag}:put`
export const changedChannel = (tag: string): string => `${tag}:changed`
