import { raw } from '../sql/sql.ts'

// A commit is answered when the server has it on disk. What a crash of the server may take back need not wait for that: a claim, or
// that a message was removed whose event is stored. A claim that is gone lets another worker send the same once more, as the
// death of a process does; a message that is back finds its event stored. The setting ends with the statement's transaction.

/** A part of a `with`. It takes effect where the query asks `isLazy`. */
export const lazyCommit = raw(`
  lazy as materialized (select set_config('synchronous_commit', 'off', true) as setting)`)

/** A condition of the last query of the statement. It is always true. */
export const isLazy = raw(`(select setting from lazy) = 'off'`)
