import { describe, expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import type { Claim } from '../../src/contracts/queue.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { Slots } from '../../src/worker/slots.ts'
import { type Cause, wakeup } from '../../src/worker/wakeup.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

function set(settings: { concurrency: number; perEndpoint: number }) {
  const fake = fakeClock()
  const clock = engineClock(fake, async () => 0, log)
  const causes: Cause[] = []
  const wake = wakeup(clock)
  const later: (readonly [ms: number, cause: Cause])[] = []
  const slot = new Slots(settings, clock, {
    ...wake,
    wake: (cause) => void causes.push(cause),
    wakeIn: (ms, cause) => void later.push([ms, cause]),
  })
  let made = 0
  const claims = (count: number, group: string, workspace = 'w'): Claim[] =>
    Array.from({ length: count }, () => ({ id: `j${++made}`, workspace, group, due_at: 0, token: 't' }))
  const ask = () => slot.claimRequest({ paced: false, leaveOut: [], ahead: () => 0 })
  const take = (...taken: Claim[]) => slot.taken(taken, ask()).admitted
  /** An endpoint that has answered once. */
  const proven = (group: string, workspace = 'w') => {
    for (const one of take(...claims(1, group, workspace))) {
      slot.freed(one, false)
      slot.holdEnded()
    }
    causes.length = later.length = 0
  }
  return { slot, fake, causes, later, claims, ask, take, proven }
}

const end = (slot: Slots, claim: Claim, slow: boolean | null = false): void => {
  slot.freed(claim, slow)
  slot.holdEnded()
}

describe('what a claim is told', () => {
  test('slots in use by workspace and by endpoint, as they are at this moment', () => {
    const { slot, claims, ask, take, proven } = set({ concurrency: 16, perEndpoint: 4 })
    for (const group of ['a', '__proto__']) proven(group, 'v')
    proven('b', 'w')
    const taken = take(...claims(2, 'a', 'v'), ...claims(1, '__proto__', 'v'), ...claims(3, 'b', 'w'))
    expect(ask()).toMatchObject({ limit: 10, free: 10, cap: 4 })
    expect(ask().busy.workspaces).toEqual(
      new Map([
        ['v', 3],
        ['w', 3],
      ]),
    )
    expect(ask().busy.groups).toEqual(
      new Map([
        ['a', 2],
        ['__proto__', 1],
        ['b', 3],
      ]),
    )
    for (const one of taken) end(slot, one)
    expect(ask()).toMatchObject({ limit: 16, free: 16 })
    expect([ask().busy.workspaces.size, ask().busy.groups.size]).toEqual([0, 0])
  })

  test('an endpoint that is being tried for the first time is left out, and one that was slow gets one job', () => {
    const { slot, claims, ask, take } = set({ concurrency: 16, perEndpoint: 4 })
    const [first] = take(...claims(1, 'new'))
    expect([...ask().leaveOut]).toEqual(['new'])
    end(slot, first!, true)
    expect([...ask().leaveOut]).toEqual([])
    expect(ask().busy.groups.get('new')).toBe(3)
  })

  test('there are at most twice as many holds as slots', () => {
    const { slot, claims, take, proven } = set({ concurrency: 4, perEndpoint: 4 })
    proven('a')
    for (let round = 0; round < 2; round++) for (const one of take(...claims(4, 'a'))) slot.freed(one, false)
    expect(slot.mayClaim()).toBe(0)
    slot.holdEnded()
    expect(slot.mayClaim()).toBe(1)
  })
})

describe('a wake-up', () => {
  test('`freed` when all slots were in use', () => {
    const { slot, causes, claims, take, proven } = set({ concurrency: 2, perEndpoint: 4 })
    proven('a')
    const [one] = take(...claims(2, 'a'))
    slot.freed(one!, false)
    expect(causes).toEqual(['freed'])
  })

  test('`freed` when the endpoint was at its cap', () => {
    const { slot, causes, claims, take, proven } = set({ concurrency: 100, perEndpoint: 2 })
    proven('a')
    const [one, two] = take(...claims(2, 'a'))
    causes.length = 0
    slot.freed(one!, false)
    expect(causes).toEqual(['freed'])
    slot.freed(two!, false)
    expect(causes).toEqual(['freed'])
  })

  test('`freed` when a workspace was at its share, whoever frees a slot', () => {
    const { slot, causes, claims, take, proven } = set({ concurrency: 16, perEndpoint: 16 })
    for (const [group, workspace] of [
      ['a', 'v'],
      ['b', 'w'],
    ] as const) {
      proven(group, workspace)
    }
    const [one] = take(...claims(2, 'b', 'w'))
    take(...claims(11, 'a', 'v')) // three are free, and 9 would be the most
    causes.length = 0
    slot.freed(one!, false)
    expect(causes).toEqual(['freed'])
  })

  test('none at once when a workspace was at its share and nothing can wait: what falls due is looked for 50 ms later', () => {
    const { slot, causes, later, ask, proven } = set({ concurrency: 16, perEndpoint: 16 })
    proven('a')
    slot.taken([], ask()) // nothing is left in the queue
    const one = { id: 'x', workspace: 'w', group: 'a', due_at: 0, token: 't' }
    for (let n = 0; n < 12; n++) slot.handed({ ...one, id: `${n}` }, { isStored: true })
    causes.length = 0
    slot.freed({ ...one, id: '0' }, false)
    expect(causes).toEqual([])
    expect(later).toEqual([[50, 'freed']])
  })

  test('none when slots fall free of which nobody had too few', () => {
    const { slot, causes, claims, take, proven } = set({ concurrency: 16, perEndpoint: 16 })
    proven('a')
    const taken = take(...claims(5, 'a'))
    causes.length = 0
    for (const one of taken) end(slot, one)
    expect(causes).toEqual([])
  })

  test('`freed` when slots fell free while a claim was under way that filled up an endpoint', () => {
    const { slot, causes, claims, ask, take, proven } = set({ concurrency: 16, perEndpoint: 4 })
    proven('a')
    const before = take(...claims(3, 'a'))
    const asked = ask()
    for (const one of before) slot.freed(one, false)
    causes.length = 0
    slot.taken(claims(1, 'a'), asked)
    expect(causes).toEqual(['freed'])
  })

  test('`freed` when the last hold ended that kept claims waiting', () => {
    const { slot, causes, claims, take, proven } = set({ concurrency: 1, perEndpoint: 1 })
    proven('a')
    for (let round = 0; round < 2; round++) for (const one of take(...claims(1, 'a'))) slot.freed(one, false)
    causes.length = 0
    slot.holdEnded()
    expect(causes).toEqual(['freed'])
  })

  test('`proven` when an endpoint may have more requests than one, and more of its jobs may wait', () => {
    const { slot, fake, causes, later, claims, take } = set({ concurrency: 16, perEndpoint: 4 })
    const [a, b, c] = take(...claims(1, 'a'), ...claims(1, 'b'), ...claims(1, 'c'))
    slot.queued([...claims(2, 'a'), ...claims(2, 'c')], fake.now())
    causes.length = 0
    slot.freed(a!, false)
    slot.freed(c!, false) // a thousand new endpoints that answer have few claims
    slot.freed(b!, false) // jobs of low priority may wait, which are not counted
    expect(causes).toEqual([])
    expect(later).toEqual([
      [0, 'proven'],
      [20, 'proven'],
      [50, 'proven'],
    ])
  })

  test('`turn` when a slow endpoint with a waiting job may be tried again', async () => {
    const { slot, fake, causes, claims, ask, take } = set({ concurrency: 16, perEndpoint: 4 })
    const [one] = take(...claims(1, 'slow'))
    causes.length = 0
    slot.freed(one!, true)
    expect(causes).toEqual([])
    await fake.advance(30)
    expect(causes).toEqual(['turn'])
    causes.length = 0
    ask() // a claim is a turn: it stops the timer
    await fake.advance(1000)
    expect(causes).toEqual([])
  })
})

test('of 50,000 endpoints that answered the oldest is forgotten first: it has to answer anew', () => {
  const { slot, claims } = set({ concurrency: 64, perEndpoint: 4 })
  const answered = (name: string) => end(slot, claims(1, name)[0]!)
  for (let n = 0; n < 50_000; n++) answered(`${n}`)
  expect([slot.isProven('0'), slot.isProven('49999')]).toEqual([true, true])
  answered('0')
  answered('50000')
  expect([slot.isProven('0'), slot.isProven('1'), slot.isProven('50000')]).toEqual([false, true, true])
})

describe('slow endpoints', () => {
  const tryAll = (
    claims: (count: number, group: string, workspace?: string) => Claim[],
    take: (...all: Claim[]) => readonly Claim[],
    names: readonly string[],
    workspace: string,
  ) => take(...names.flatMap((name) => claims(1, name, workspace)))

  test('use half of the slots at most, and leave room for those of another workspace', () => {
    const { slot, claims, ask, take } = set({ concurrency: 64, perEndpoint: 4 })
    const dead = Array.from({ length: 60 }, (_, i) => `dead${i}`)
    for (const name of dead) for (const one of take(...claims(1, name, 'v'))) end(slot, one, true)
    const slow = tryAll(claims, take, dead, 'v')
    expect(slow).toHaveLength(24) // three quarters of 32
    for (const name of ['x', 'y']) for (const one of take(...claims(1, name, 'w'))) end(slot, one, true)
    ask()
    expect(tryAll(claims, take, ['x', 'y'], 'w')).toHaveLength(2)
  })

  test('that are known to have a job are tried in turns by workspace', () => {
    const { slot, claims, ask } = set({ concurrency: 64, perEndpoint: 4 })
    const names = [...Array.from({ length: 10 }, (_, i) => ['v', `v${i}`] as const), ['w', 'w0'] as const]
    const before = ask()
    for (const [workspace, name] of names) {
      slot.backlog.claimBegins()
      for (const one of slot.taken(claims(1, name, workspace), before).admitted) end(slot, one, true)
    }
    const tried: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      const asked = ask()
      const [workspace, name] = names.find(([, one]) => !asked.leaveOut.has(one))!
      tried.push(name)
      slot.taken(claims(1, name, workspace), asked)
    }
    expect(tried).toEqual(['v0', 'w0', 'v1'])
  })
})
