import type { Claim, ClaimOptions, Job, Queue } from '../contracts/queue.ts'
import { there } from './assert.ts'

export const job = (id: string, group: string, due_at: number, workspace = 'w'): Job => ({
  id,
  workspace,
  group,
  due_at,
})

/** What a case asks of a claim, in short. */
type Asked = Partial<Omit<ClaimOptions, 'busy' | 'leaveOut'>> & {
  readonly busy?: Readonly<Record<string, number>>
  readonly low?: Readonly<Record<string, number>>
  readonly workspaces?: Readonly<Record<string, number>>
  readonly leaveOut?: readonly string[]
}

export const take = (queue: Queue, { busy = {}, low = {}, workspaces = {}, leaveOut = [], ...options }: Asked = {}) =>
  queue.claim({
    limit: 100,
    free: 10_000,
    cap: 100,
    busy: {
      groups: new Map(Object.entries(busy)),
      low: new Map(Object.entries(low)),
      workspaces: new Map(Object.entries(workspaces)),
    },
    leaveOut: new Set(leaveOut),
    leaseMs: 1000,
    now: 10_000,
    ...options,
  })
export const ids = (claims: readonly Job[]): string[] => claims.map(({ id }) => id)
export const one = async (queue: Queue, options: Asked = {}): Promise<Claim> =>
  there((await take(queue, { limit: 1, ...options }))[0], 'a claim')
