import { describe, expect, test } from 'vitest'

import type { Claim } from '../../src/contracts/queue.ts'
import { Backlog } from '../../src/worker/backlog.ts'
import type { SlotRequest } from '../../src/worker/tenant-slots.ts'

// Workspace `w` has the endpoint `w1`, workspace `v` the endpoint `v1`.

const claims = (workspace: string, count: number): Claim[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `${workspace}${n}`,
    workspace,
    group: `${workspace}1`,
    due_at: n,
    token: 't',
  }))

/** `used`: slots in use by each workspace, all of them by its endpoint. */
const request = (
  limit: number,
  free: number,
  used: Readonly<Record<string, number>> = {},
  more: Partial<SlotRequest> = {},
): SlotRequest => ({
  limit,
  free,
  cap: 100,
  busy: {
    workspaces: new Map(Object.entries(used)),
    groups: new Map(Object.entries(used).map(([workspace, slots]) => [`${workspace}1`, slots])),
    low: new Map(),
  },
  leaveOut: new Set(),
  ...more,
})

function afterClaim(asked: SlotRequest, answered: readonly Claim[], surplus: readonly Claim[] = []) {
  const backlog = new Backlog()
  backlog.claimBegins()
  backlog.claimed(asked, answered, surplus)
  return { w: backlog.of('w1', 'w'), v: backlog.of('v1', 'v') }
}

describe('what may wait after a claim', () => {
  test.each([
    ['nothing, when it took less than it might', request(10, 10), claims('w', 3), { w: 0, v: 0 }],
    ['nothing, when nothing was due', request(10, 10), [], { w: 0, v: 0 }],
    [
      'anything, when it took one job of each until its limit',
      request(1, 10),
      claims('w', 1),
      { w: Infinity, v: Infinity },
    ],
    ['nothing of others than the only one that got several', request(4, 100), claims('w', 4), { w: Infinity, v: 0 }],
    [
      'nothing of those that got fewer slots than others',
      request(5, 100, { w: 7 }),
      [...claims('v', 2), ...claims('w', 3)],
      { w: Infinity, v: 0 },
    ],
    [
      'something of those that have as many slots as who got the last',
      request(5, 100, { w: 1 }),
      [...claims('v', 3), ...claims('w', 2)],
      { w: Infinity, v: Infinity },
    ],
    ['something of those that have their share', request(10, 10, { w: 30 }), [], { w: Infinity, v: 0 }],
    [
      'nothing of those that have room in their share still',
      request(10, 10, { w: 19 }),
      claims('w', 2),
      { w: 0, v: 0 },
    ],
    ['something of those that reached their share', request(10, 10, { w: 20 }), claims('w', 3), { w: Infinity, v: 0 }],
    [
      'something of an endpoint that has all its slots',
      request(10, 10, { w: 2 }, { cap: 4 }),
      claims('w', 2),
      { w: Infinity, v: 0 },
    ],
    [
      'something of an endpoint that was left out',
      request(10, 10, {}, { leaveOut: new Set(['v1']) }),
      claims('w', 2),
      { w: 0, v: Infinity },
    ],
  ])('%s', (_, asked, answered, waiting) => {
    expect(afterClaim(asked, answered)).toEqual(waiting)
  })

  test('what had no slot here and went back', () => {
    const answered = claims('w', 2)
    expect(afterClaim(request(10, 10), answered, answered.slice(1))).toEqual({ w: Infinity, v: 0 })
  })
})

test('jobs that are added count until a claim has looked for them', () => {
  const backlog = new Backlog()
  expect(backlog.of('w1', 'w')).toBe(Infinity)
  backlog.claimBegins()
  backlog.added([{ id: 'a', workspace: 'w', group: 'w1', due_at: 5 }], 5)
  backlog.claimed(request(10, 10), [], [])
  expect(backlog.of('w1', 'w')).toBe(1)
  backlog.claimBegins()
  expect(backlog.of('w1', 'w')).toBe(1)
  backlog.claimed(request(10, 10), [], [])
  expect(backlog.of('w1', 'w')).toBe(0)
  backlog.addedElsewhere()
  expect(backlog.of('w1', 'w')).toBe(Infinity)
})

describe('what was known before a claim', () => {
  /** Nothing waits, then these jobs are added. */
  function known(...added: readonly (readonly [group: string, workspace: string])[]) {
    const backlog = new Backlog()
    backlog.claimBegins()
    backlog.claimed(request(10, 10), [], [])
    const job = ([group, workspace]: readonly [string, string], n: number) => ({
      id: `${n}`,
      workspace,
      group,
      due_at: 1,
    })
    backlog.added(added.map(job), 1)
    return backlog
  }

  test.each([
    ['of a workspace that has its share', request(10, 10, { w: 30 })],
    ['of an endpoint that has all its slots', request(10, 10, { w: 2 }, { cap: 2 })],
    ['of an endpoint that was left out', request(10, 10, {}, { leaveOut: new Set(['w1']) })],
  ])('stays known %s', (_, asked) => {
    const nothing = known()
    nothing.claimBegins()
    nothing.claimed(asked, [], [])
    expect(nothing.of('w1', 'w')).toBe(0)
    const two = known(['w1', 'w'], ['w1', 'w'], ['v1', 'v'])
    two.claimBegins()
    two.claimed(asked, [], [])
    expect([two.of('w1', 'w'), two.of('v1', 'v')]).toEqual([2, 0])
  })

  test('is known to be less by what the claim took', () => {
    const backlog = known(['w1', 'w'], ['w1', 'w'], ['w1', 'w'])
    backlog.claimBegins()
    backlog.claimed(request(10, 10, {}, { cap: 2 }), claims('w', 2), [])
    expect(backlog.of('w1', 'w')).toBe(1)
  })

  test('was wrong where the claim took more: jobs fell due', () => {
    const backlog = known(['w1', 'w'])
    backlog.claimBegins()
    backlog.claimed(request(10, 10, {}, { cap: 2 }), claims('w', 2), [])
    expect(backlog.of('w1', 'w')).toBe(Infinity)
  })

  test('is lost when the claim fails', () => {
    const backlog = known()
    backlog.claimBegins()
    backlog.claimBegins()
    expect(backlog.of('w1', 'w')).toBe(Infinity)
  })

  test('tells whether others than some endpoints have jobs', () => {
    const isW = (group: string): boolean => group === 'w1'
    expect(new Backlog().isEmptyBut(isW)).toBe(false)
    expect(known().isEmptyBut(isW)).toBe(true)
    expect(known(['w1', 'w']).isEmptyBut(isW)).toBe(true)
    expect(known(['w1', 'w'], ['v1', 'v']).isEmptyBut(isW)).toBe(false)
  })
})
