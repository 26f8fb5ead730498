import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { IngestEntry } from '../../src/contracts/storage/events.ts'
import type { NewAttempt, Settlement, StoredStatus } from '../../src/contracts/storage/attempts.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import { random } from '../../src/testing/random.ts'
import * as rows from '../../src/testing/storage/rows.ts'

const workspace = rows.workspace('default', { name: 'default' })

/** Events and attempts in their plainest form: two lists, looked through from end to end. */
function ledger() {
  const events: StoredEvent[] = []
  const attempts: { row: NewAttempt; status: StoredStatus; event: StoredEvent }[] = []
  const same = (a: StoredEvent, b: StoredEvent) => JSON.stringify(a) === JSON.stringify(b)
  return {
    ingest({ event, attempts: planned, revision }: IngestEntry, today: number) {
      const there = events.find(({ id }) => id === event.id)
      if (there !== undefined && same(there, event)) return { kind: 'stored' }
      const seen = event.unique_id === null ? undefined : events.find(({ unique_id }) => unique_id === event.unique_id)
      if (seen !== undefined) return { kind: 'duplicate', event: seen }
      if (there !== undefined) return { kind: 'id_taken' }
      if (revision !== today) return { kind: 'stale' }
      events.push(event)
      for (const row of planned) attempts.push({ row, status: 'OPEN', event })
      return { kind: 'stored' }
    },
    settle({ attempt, status, next }: Settlement) {
      const open = attempts.find(({ row, status }) => row.id === attempt.id && status === 'OPEN')
      if (open === undefined) return { settled: false, disabled: false }
      open.status = status
      if (next !== null) attempts.push({ row: next, status: 'OPEN', event: open.event })
      return { settled: true, disabled: false }
    },
    load: (ids: readonly string[]) => attempts.filter(({ row, status }) => ids.includes(row.id) && status === 'OPEN'),
    overdue: (before: number) =>
      attempts
        .filter(({ row, status }) => status === 'OPEN' && row.scheduled_at < before)
        .map(({ row }) => ({ id: row.id, workspace: 'default', group: row.endpoint_id, due_at: row.scheduled_at }))
        .toSorted((a, b) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1)),
    statusOf: (status: StoredStatus) =>
      attempts
        .filter((attempt) => attempt.status === status)
        .map(({ row }) => row.id)
        .toSorted(),
    events,
    attempts,
  }
}

test('events and attempts in memory are what two plain lists say, through 10,000 random operations', async () => {
  const dice = random(20261121)
  const storage = memory()
  await storage.workspaces.insert(workspace)
  const today = (await storage.configuration('default'))!.revision
  const model = ledger()
  let made = 0

  const attempt = (event_id: string, attempt_number = 1): NewAttempt => ({
    id: `a${String(++made).padStart(6, '0')}`,
    event_id,
    endpoint_id: dice.of(['x', 'y', 'z']),
    attempt_number,
    scheduled_at: dice.below(1000),
    trigger_mode: 'INITIAL',
    created_at: 0,
  })
  const entry = (): IngestEntry => {
    const id = `e${dice.below(6000)}`
    const event: StoredEvent = {
      id,
      event_type: dice.of(['made', 'paid']),
      data: `{"n":${dice.below(2)}}`,
      unique_id: dice.below(3) === 0 ? `u${dice.below(500)}` : null,
      ingested_at: 0,
      created_at: 0,
      updated_at: 0,
    }
    const attempts = Array.from({ length: dice.below(3) }, () => attempt(id))
    return { workspaceId: 'default', revision: dice.below(20) === 0 ? today - 1 : today, event, attempts }
  }
  let settledAt = 0 // each settlement at a time of its own: so none of them is taken for another that is sent again
  const settlement = (): Settlement => {
    const { row } = dice.of(model.attempts)
    const status = dice.of(['SUCCESSFUL', 'FAILED', 'CANCELED'] as const)
    const next = status === 'FAILED' && dice.below(2) === 0 ? attempt(row.event_id, row.attempt_number + 1) : null
    return {
      workspaceId: 'default',
      attempt: row,
      status,
      attempted_at: 1,
      exhausted: next === null,
      error_code: null,
      error_message: null,
      request: null,
      response: null,
      settled_at: ++settledAt,
      next,
      disable: null,
      counted: null,
      claim: null,
    }
  }

  for (let operation = 0; operation < 10_000; operation++) {
    const what = `operation ${operation}`
    const roll = dice.below(10)
    if (roll < 4 || model.attempts.length === 0) {
      const batch = Array.from({ length: 1 + dice.below(3) }, entry)
      const expected = batch.map((one) => model.ingest(one, today))
      expect(await storage.events.ingest(batch, { enqueue: false }), what).toEqual(expected)
    } else if (roll < 8) {
      const batch = Array.from({ length: 1 + dice.below(3) }, settlement)
      const expected = batch.map((one) => model.settle(one))
      expect(await storage.attempts.settle(batch, { enqueue: false }), what).toEqual(expected)
    } else if (roll < 9) {
      const ids = [...new Set(Array.from({ length: 5 }, () => dice.of(model.attempts).row.id))]
      const loaded = await storage.attempts.load(ids)
      const found = (rows: readonly { id: string; event: string | undefined }[]) =>
        rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      expect(found(loaded.map((one) => ({ id: one.attempt.id, event: one.event?.id }))), what).toEqual(
        found(model.load(ids).map(({ row, event }) => ({ id: row.id, event: event.id }))),
      )
    } else {
      const before = dice.below(1000)
      const jobs = await storage.attempts.overdue({ before, after: null, limit: 50 })
      expect(jobs, what).toEqual(model.overdue(before).slice(0, 50))
    }
  }

  const page = { limit: 100_000, page: null, after: null, before: null, descending: false }
  for (const status of ['OPEN', 'SUCCESSFUL', 'FAILED', 'CANCELED'] as const) {
    const { rows } = await storage.attempts.list('default', { ...page, status })
    expect(rows.map(({ id }) => id)).toEqual(model.statusOf(status))
  }
  const { rows } = await storage.events.list('default', { ...page, maxBytes: Infinity })
  expect(rows).toEqual(model.events.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
})
