import type { ProcessReport } from '../schema/instance.ts'
import type { InstanceStatsInput, StatsReport } from '../schema/stats.ts'

/** Statistics of all workspaces together, and of the processes that work for them. */
export interface InstanceService {
  /**
   * The ended attempts of all workspaces, counted as `stats` counts the attempts of a workspace.
   * @throws PosthornError validation
   */
  stats(query?: InstanceStatsInput): Promise<StatsReport>
  /** The processes that worked in the last five minutes, by id. */
  processes(): Promise<readonly ProcessReport[]>
}
