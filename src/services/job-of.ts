import type { Job } from '../contracts/queue.ts'
import type { PlannedAttempt } from '../contracts/storage/attempts.ts'

/** The pointer that the queue holds of an attempt. */
export function jobOf(workspaceId: string, attempt: PlannedAttempt): Job {
  const { id, endpoint_id, scheduled_at, priority } = attempt
  return { id, workspace: workspaceId, group: endpoint_id, due_at: scheduled_at, ...(priority && { priority }) }
}
