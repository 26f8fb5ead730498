import type { Database } from './database.ts'
import { raw, sql } from '../sql/sql.ts'

/** How long an answer stands. */
const standsMs = 1000
/** The size up to which the table grows where nobody vacuums it. Beyond, a full disk is no longer noticed here. */
const maxBytes = raw('8388608')

/**
 * Asks whether the server takes writes, at most once a second: reads are answered by a standby and on a full disk too.
 *
 * A row is written and undone. The row needs a new page of the disk, since a full disk still takes rows into pages that
 * have room; autovacuum gives the pages back.
 */
export function probe({ ask, t }: Database): () => Promise<void> {
  let answer: Promise<void> | null = null
  let answeredAt: number | null = null

  const write = async (): Promise<void> => {
    // Caught where it was raised, an error is not logged by the server.
    await ask(sql`
      do $$ begin
        insert into ${t.probes} (filling)
        select repeat('x', 1000) where pg_relation_size('${t.probes}') < ${maxBytes};
        raise sqlstate 'PH002';
      exception when sqlstate 'PH002' then null;
      end $$`)
  }
  return () => {
    const stands = answeredAt === null || performance.now() - answeredAt < standsMs
    if (answer !== null && stands) return answer
    answeredAt = null
    answer = write().finally(() => (answeredAt = performance.now()))
    return answer
  }
}
