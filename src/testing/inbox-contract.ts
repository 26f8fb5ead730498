import type { Inbox, Message } from '../contracts/inbox.ts'
import { equal, ok, there } from './assert.ts'
import { type Contract, promise } from './contract.ts'

const message = (id: string, received_at: number, more: Partial<Message> = {}): Message => ({
  id,
  workspaceId: 'w',
  event_type: 'order.paid',
  data: '{"n":12345678901234567890}',
  unique_id: null,
  received_at,
  ...more,
})
const take = (inbox: Inbox, now = 10_000, limit = 100, maxBytes = 1_000_000) =>
  inbox.take({ limit, maxBytes, leaseMs: 1000, now })
const takeBytes = (inbox: Inbox, maxBytes: number, now = 10_000) => take(inbox, now, 100, maxBytes)
const ids = (messages: readonly Message[]) => messages.map(({ id }) => id)

/** What every inbox promises. */
export const inboxContract: Contract<Inbox> = [
  promise('an empty inbox gives nothing', async (inbox) => {
    equal(await take(inbox), [], 'taken')
    equal(await inbox.size(), 0, 'size')
    await inbox.put([])
    await inbox.done([])
    await inbox.bury([], 'nothing')
  }),

  promise('messages come oldest first, as they were put', async (inbox) => {
    const first = message('a', 1, {
      unique_id: 'u',
      data: '"naïve 日本 🎉 \\u0000"',
      event_type: 'naïve.🎉',
      trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    await inbox.put([first])
    await inbox.put([message('b', 2), message('c', 3)])
    const [taken, ...rest] = await take(inbox, 10_000, 2)
    const { token, tries, ...back } = there(taken, 'the first')
    equal(back, first, 'the message')
    equal(tries, 1, 'tries')
    ok(token !== '', 'a token')
    equal(ids(rest), ['b'], 'the second')
    equal(ids(await take(inbox)), ['c'], 'the rest')
    equal(await inbox.size(), 3, 'held ones count')
  }),

  promise('a message put again is left as it is', async (inbox) => {
    await inbox.put([message('a', 1), message('a', 1)])
    await inbox.put([message('a', 1, { data: '2' })])
    equal(await inbox.size(), 1, 'size')
    const [taken] = await take(inbox)
    equal(taken?.data, '{"n":12345678901234567890}', 'data')
    await inbox.put([message('a', 1)])
    equal(await take(inbox), [], 'a held one is not given out again')
  }),

  promise('a message put with a lease is held by the caller, as if it had been taken', async (inbox) => {
    const lease = { token: 'mine', until: 11_000 }
    const put = () => inbox.put([{ ...message('a', 1), lease }, message('b', 2)])
    const held = [{ kind: 'stored', held: true }, { kind: 'stored' }]
    equal(await put(), held, 'answers')
    equal(await put(), held, 'answers when the call is repeated')
    const twice = [message('b', 2), { ...message('b', 2), lease }]
    equal(await inbox.put(twice), [{ kind: 'stored' }, { kind: 'stored' }], 'one that waits is not held')
    const other = { ...message('a', 1), lease: { token: 'other', until: 12_000 } }
    equal(await inbox.put([other]), [{ kind: 'stored' }], 'another caller does not hold it')
    const [b, ...none] = await take(inbox, 10_999)
    equal([b?.id, none], ['b', []], 'what is taken while the lease lasts')
    equal(await inbox.size(), 2, 'size')
    const [again] = await take(inbox, 11_000)
    equal([again?.id, again?.tries], ['a', 2], 'when it has ended')
    await inbox.done([{ ...message('a', 1), token: 'mine', tries: 1 }])
    equal(await inbox.size(), 2, 'the old token removes nothing')
    await inbox.put([{ ...message('c', 3), lease }])
    await inbox.done([{ ...message('c', 3), token: 'mine', tries: 1 }])
    equal(ids(await take(inbox, 100_000)).toSorted(), ['a', 'b'], 'what is done is gone')
  }),

  promise('what is done is gone', async (inbox) => {
    await inbox.put([message('a', 1), message('b', 2)])
    const [a] = await take(inbox, 10_000, 1)
    await inbox.done([there(a, 'a')])
    equal(await inbox.size(), 1, 'size')
    equal(ids(await take(inbox, 100_000)), ['b'], 'what is left')
  }),

  promise('a lapsed hold returns the message with one more try, and the old token is dead', async (inbox) => {
    await inbox.put([message('a', 1)])
    const [old] = await take(inbox)
    equal(await take(inbox, 10_999), [], 'while the hold lasts')
    const [again] = await take(inbox, 11_000)
    equal([again?.id, again?.tries], ['a', 2], 'when it has ended')
    await inbox.done([there(old, 'the old hold')])
    await inbox.bury([there(old, 'the old hold')], 'late')
    equal(await inbox.size(), 1, 'the old token removes nothing')
    await inbox.done([there(again, 'the new hold')])
    equal(await inbox.size(), 0, 'the new one does')
  }),

  promise('what is released waits again at its place, and that was no try', async (inbox) => {
    if (inbox.release === undefined) return
    await inbox.release([])
    await inbox.put([message('a', 1), message('b', 2), message('c', 3)])
    const [a, b] = await take(inbox, 10_000, 2)
    await inbox.release([there(b, 'b')])
    await inbox.release([there(b, 'b, once more')])
    const again = await take(inbox, 10_000)
    equal(
      again.map(({ id, tries }) => [id, tries]),
      [
        ['b', 1],
        ['c', 1],
      ],
      'taken next',
    )
    await inbox.release([there(b, 'the old hold of b')])
    equal(await take(inbox, 10_999), [], 'a hold of somebody else stays')
    await inbox.done(again)
    equal(ids(await take(inbox, 11_000)), ['a'], 'what was not released')
    await inbox.release([there(a, 'the hold of a that lapsed')])
    equal(await inbox.size(), 1, 'size')
  }),

  promise('a buried message is neither taken nor counted', async (inbox) => {
    await inbox.put([message('a', 1), message('b', 2)])
    const taken = await take(inbox)
    await inbox.bury(taken.slice(0, 1), 'it could not be stored: "\0" \ud800')
    equal(await inbox.size(), 1, 'size')
    equal(ids(await take(inbox, 100_000)), ['b'], 'what is taken')
  }),

  promise('ten callers at once share a hundred messages without overlap', async (inbox) => {
    const all = Array.from({ length: 100 }, (_, i) => message(`m${100 + i}`, i))
    await inbox.put(all)
    const shares = await Promise.all(Array.from({ length: 10 }, () => take(inbox, 10_000, 20)))
    const taken = [...ids(shares.flat()), ...ids(await take(inbox))]
    equal(taken.toSorted(), ids(all), 'every message once')
  }),

  promise('a take ends before the message that is beyond its bytes, and the rest waits in its order', async (inbox) => {
    const data = '"日本"' // of 8 bytes
    await inbox.put(['a', 'b', 'c', 'd', 'e', 'f'].map((id, i) => message(id, i, { data })))
    equal(ids(await takeBytes(inbox, 15)), ['a'], 'one byte short of two')
    equal(ids(await takeBytes(inbox, 16)), ['b', 'c'], 'room for two')
    equal(ids(await takeBytes(inbox, 31)), ['d', 'e', 'f'], 'room for the rest')
    equal(ids(await takeBytes(inbox, 39, 11_000)), ['a', 'b', 'c', 'd'], 'lapsed ones, one byte short of five')
    const rest = await takeBytes(inbox, 40, 11_000)
    equal(ids(rest), ['e', 'f'], 'and the rest of them')
    equal(rest[0]?.tries, 2, 'tries of one that did not fit')
  }),

  promise('a message that is larger than the bytes of a take is taken alone, and never left behind', async (inbox) => {
    const data = JSON.stringify('x'.repeat(1000))
    await inbox.put([message('a', 1), message('big', 2, { data }), message('c', 3)])
    equal(ids(await takeBytes(inbox, 100)), ['a'], 'what comes before it')
    await inbox.put([message('d', 4)])
    const [big, ...others] = await takeBytes(inbox, 100)
    equal([big?.id, big?.tries, others], ['big', 1, []], 'it alone, in its turn, for the first time')
    equal(ids(await takeBytes(inbox, 100)), ['c', 'd'], 'what comes after it')
    equal(ids(await takeBytes(inbox, 0, 11_000)), ['a'], 'one at the least')
    equal(await inbox.size(), 4, 'size')
  }),

  promise('callers with little room share what there is without overlap or loss', async (inbox) => {
    const all = Array.from({ length: 60 }, (_, i) => message(`m${100 + i}`, i, { data: '"12345678"' }))
    await inbox.put(all)
    const taken: string[] = []
    for (let rounds = 0; taken.length < all.length; rounds++) {
      const shares = await Promise.all(Array.from({ length: 5 }, () => takeBytes(inbox, 35)))
      equal(shares.filter(({ length }) => length > 3).length, 0, 'shares that have no room')
      taken.push(...ids(shares.flat()))
      ok(rounds < 60, 'each round brings something')
    }
    equal(taken.toSorted(), ids(all), 'every message once')
  }),

  promise('a message of a megabyte comes back whole', async (inbox) => {
    const data = JSON.stringify('é'.repeat(500_000))
    await inbox.put([message('big', 1, { data })])
    const [taken] = await take(inbox)
    ok(taken?.data === data, 'data')
  }),

  promise('workspaces take turns: one message of each, then a second of each, the oldest first', async (inbox) => {
    const of = (workspaceId: string, count: number, at: number) =>
      Array.from({ length: count }, (_, n) => message(`${workspaceId}${n}`, at + n, { workspaceId }))
    await inbox.put([...of('greedy', 1000, 0), ...of('a', 3, 5000), ...of('z', 1, 6000)])
    equal(ids(await take(inbox, 10_000, 6)), ['a0', 'greedy0', 'z0', 'a1', 'greedy1', 'a2'], 'the first take')
    await inbox.put([...of('b', 1, 7000), ...of('q', 2, 7000)])
    // It goes on after the workspace that came last.
    equal(ids(await take(inbox, 10_000, 3)), ['b0', 'greedy2', 'q0'], 'the second')
    equal(ids(await take(inbox, 10_000, 4)), ['greedy3', 'q1', 'greedy4', 'greedy5'], 'the third')
    equal((await take(inbox, 10_000, 500)).length, 500, 'one workspace alone gets all')
  }),

  promise("workspaces that are left out give nothing, and take nobody's place", async (inbox) => {
    const of = (workspaceId: string, count: number) =>
      Array.from({ length: count }, (_, n) => message(`${workspaceId}${n}`, n, { workspaceId }))
    await inbox.put([...of('a', 2), ...of('b', 3), ...of('c', 1), ...of('d', 2)])
    const without = (limit: number, ...names: string[]) =>
      inbox.take({ limit, maxBytes: 1_000_000, leaseMs: 1000, now: 10_000, leaveOut: new Set(names) })
    equal(ids(await without(2, 'a', 'b', 'nobody')), ['c0', 'd0'], 'as many as there is room for')
    equal(ids(await without(1, 'a')), ['b0'], 'the next in the order')
    equal(ids(await without(10, 'b', 'd')), ['a0', 'a1'], 'all of the others')
    equal(await without(10, 'b', 'd'), [], 'when only they have messages')
    equal(ids(await without(10)), ['b1', 'd1', 'b2'], 'once they are not left out')
  }),

  promise('with more workspaces than a take has room, each has its turn', async (inbox) => {
    const workspaces = Array.from({ length: 30 }, (_, n) => `w${100 + n}`)
    await inbox.put(
      workspaces.flatMap((workspaceId, n) =>
        Array.from({ length: 5 }, (_, i) => message(`${workspaceId}-${i}`, i * 100 + n, { workspaceId })),
      ),
    )
    for (let round = 0; round < 5; round++) {
      const taken = [
        ...(await take(inbox, 10_000, 12)),
        ...(await take(inbox, 10_000, 12)),
        ...(await take(inbox, 10_000, 6)),
      ]
      equal(
        taken.map(({ workspaceId }) => workspaceId),
        workspaces,
        `round ${round}`,
      )
      equal(new Set(taken.map(({ id }) => id.at(-1))).size, 1, `one message of each in round ${round}`)
    }
  }),

  promise('a message that is too large for the rest of a take is the first of the next one', async (inbox) => {
    const data = JSON.stringify('x'.repeat(998)) // 1,000 bytes
    await inbox.put([
      message('a1', 1, { workspaceId: 'a' }),
      message('b1', 2, { workspaceId: 'b', data }),
      message('c1', 3, { workspaceId: 'c' }),
      message('a2', 4, { workspaceId: 'a' }),
    ])
    equal(ids(await takeBytes(inbox, 500)), ['a1'], 'what comes before it')
    equal(ids(await takeBytes(inbox, 500)), ['b1'], 'it alone')
    equal(ids(await takeBytes(inbox, 500)), ['c1', 'a2'], 'what comes after it')
  }),

  promise('whatever a message of a batch holds, those around it are put', async (inbox) => {
    const nul = 'a\0b'
    const numbers = [Number.NaN, Infinity, 1e300, 0.5]
    const odd: readonly Partial<Message>[] = [
      ...[nul, '"\ud800"'].flatMap((text) => [{ data: text }, { event_type: text }, { unique_id: text }]),
      ...numbers.map((received_at) => ({ received_at })),
      { trace: nul },
      { workspaceId: nul },
      { id: nul },
    ]
    const batch = odd.flatMap((more, n) => [message(`m${100 + n}`, n), message(`odd${100 + n}`, n, more)])
    const answers = await inbox.put(batch)
    equal(answers.length, batch.length, 'answers')
    const stored = batch.filter((_, i) => answers[i]!.kind === 'stored')
    equal(stored.filter(({ id }) => id.startsWith('m')).length, odd.length, 'messages that nothing is wrong with')
    equal(await inbox.size(), stored.length, 'size')
    const taken = await take(inbox)
    ok(
      odd.every((_, n) => taken.some(({ id }) => id === `m${100 + n}`)),
      'and they are taken',
    )
  }),

  promise('listeners hear of messages until they stop', async (inbox) => {
    if (inbox.onPut === undefined) return
    let heard: () => void = () => {}
    const hint = new Promise<void>((resolve) => (heard = resolve))
    const stop = await inbox.onPut(() => heard())
    await inbox.put([message('a', 1)])
    await hint
    await stop()
    await stop()
  }),
]
