import type { Job } from '../contracts/queue.ts'
import type { PlannedAttempt } from '../contracts/storage/attempts.ts'

/** The pointer that the queue holds of an attempt. */
export function jobOf(workspaceId: string, attempt: PlannedAttempt): Job {
  const { id, endpoint_id, scheduled_at, priority, lease } = attempt
  const job = { id, workspace: workspaceId, group: endpoint_id, due_at: scheduled_at }
  return priority === undefined && lease === undefined
    ? job
    : { ...job, ...(priority && { priority }), ...(lease && { lease }) }
}
