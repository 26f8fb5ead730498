import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { workspaceRow } from '../../src/core/workspace-row.ts'
import { claimOptions } from '../support/claim-options.ts'

test('an event is stored with its attempts and jobs, and only as many as `keep` stay once they ended', async () => {
  const storage = memory({ keep: 2 })
  const row = workspaceRow({ id: 'w', name: null, description: null, metadata: {}, created_at: 1, updated_at: 1 })
  expect(await storage.workspaces.insert(row)).toBe('written')
  const { revision } = (await storage.configuration('w'))!
  for (let i = 1; i <= 5; i++) {
    const event = {
      id: `e${i}`,
      event_type: 'a',
      data: '{}',
      ingested_at: i,
      unique_id: null,
      created_at: i,
      updated_at: i,
    }
    const attempt = {
      id: `a${i}`,
      event_id: `e${i}`,
      endpoint_id: 'x',
      attempt_number: 1,
      scheduled_at: i,
      trigger_mode: 'INITIAL',
      created_at: i,
    } as const
    const entry = { workspaceId: 'w', revision, event, attempts: [attempt] }
    expect(await storage.events.ingest([entry], { enqueue: true })).toEqual([{ kind: 'stored' }])
    const [claim] = await storage.queue.claim(claimOptions({ leaseMs: 100, now: i }))
    expect(claim).toMatchObject({ id: `a${i}`, group: 'x', due_at: i })
    const settlement = {
      workspaceId: 'w',
      attempt,
      status: 'SUCCESSFUL',
      attempted_at: i,
      exhausted: false,
      error_code: null,
      error_message: null,
      request: null,
      response: null,
      settled_at: i,
      next: null,
      disable: null,
      counted: null,
      claim: claim!,
    } as const
    expect(await storage.attempts.settle([settlement], { enqueue: true })).toEqual([{ settled: true, disabled: false }])
  }
  const query = { limit: 10, page: 1, after: null, before: null, descending: false, maxBytes: 1e6 }
  expect((await storage.events.list('w', query)).rows.map(({ id }) => id)).toEqual(['e4', 'e5'])
  expect((await storage.attempts.list('w', query)).rows.map(({ id }) => id)).toEqual(['a4', 'a5'])
  expect(await storage.queue.stats(10)).toEqual({ size: 0, oldestDueAt: null })
})
