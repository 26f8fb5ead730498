import type { Operation } from '../operations/operation.ts'

/** Whether a request is done once under an `Idempotency-Key`: those that write. A dump is a read. */
export function takesKey({ http, answers }: Pick<Operation, 'http' | 'answers'>): boolean {
  return http.startsWith('POST ') && answers[200] !== 'ConfigDocument'
}
