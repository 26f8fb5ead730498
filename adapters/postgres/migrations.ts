import { tables } from './migrations/1-tables.ts'
import { probes } from './migrations/2-probes.ts'
import { revisited } from './migrations/3-revisited.ts'
import { lines } from './migrations/4-lines.ts'
import { counts } from './migrations/5-counts.ts'
import { expansions } from './migrations/6-expansions.ts'
import { inboxTurns } from './migrations/7-inbox-turns.ts'
import { statistics } from './migrations/8-statistics.ts'
import { deliveries } from './migrations/9-deliveries.ts'
import { deliveryIndexes } from './migrations/10-delivery-indexes.ts'
import { keyedRequests } from './migrations/11-keyed-requests.ts'
import { lastOutcomes } from './migrations/12-last-outcomes.ts'
import { lastOutcomeIndexes } from './migrations/13-last-outcome-indexes.ts'
import { jobsOfAGroup } from './migrations/14-jobs-of-a-group.ts'
import { openJobs } from './migrations/15-open-jobs.ts'
import { openJobIndexes } from './migrations/16-open-job-indexes.ts'
import { oneRow } from './migrations/18-one-row.ts'
import type { Migration } from './migrations/migration.ts'

/** In order. A released migration is never edited: a change comes as another migration. */
export const migrations: readonly Migration[] = [
  tables,
  probes,
  revisited,
  lines,
  counts,
  expansions,
  inboxTurns,
  statistics,
  deliveries,
  deliveryIndexes,
  keyedRequests,
  lastOutcomes,
  lastOutcomeIndexes,
  jobsOfAGroup,
  openJobs,
  openJobIndexes,
  oneRow,
]
