import type { Storage } from '../contracts/storage.ts'
import type { Contract } from './contract.ts'
import { attemptCases } from './storage/attempts.ts'
import { timelineCases } from './storage/timeline.ts'
import { boundsCases } from './storage/bounds.ts'
import { collectionCases } from './storage/collections.ts'
import { configurationCases } from './storage/configuration.ts'
import { eventCases } from './storage/events.ts'
import { keyedRequestCases } from './storage/keyed-requests.ts'
import { leaseCases } from './storage/leases.ts'
import { priorityCases } from './storage/priority.ts'
import { refusalCases } from './storage/refusals.ts'
import { ruleCases } from './storage/rules.ts'
import { settlementCases } from './storage/settlements.ts'
import { causeCases } from './storage/causes.ts'
import { statisticsCases } from './storage/statistics.ts'
import { traceCases } from './storage/trace.ts'
import { upkeepCases } from './storage/upkeep.ts'
import { workspaceCases } from './storage/workspaces.ts'

/** What every storage promises. Cases about the engine's own queue apply where the engine has a queue. */
export const storageContract: Contract<Storage> = [
  ...workspaceCases,
  ...collectionCases,
  ...configurationCases,
  ...boundsCases,
  ...ruleCases,
  ...eventCases,
  ...attemptCases,
  ...timelineCases,
  ...settlementCases,
  ...refusalCases,
  ...traceCases,
  ...upkeepCases,
  ...statisticsCases,
  ...causeCases,
  ...keyedRequestCases,
  ...priorityCases,
  ...leaseCases,
]
