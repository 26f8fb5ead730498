import type { Job } from '../contracts/queue.ts'
import type { NewAttempt } from '../contracts/storage/attempts.ts'

/** The pointer that the queue holds of an attempt. */
export function jobOf(workspaceId: string, attempt: NewAttempt): Job {
  return { id: attempt.id, workspace: workspaceId, group: attempt.endpoint_id, due_at: attempt.scheduled_at }
}
