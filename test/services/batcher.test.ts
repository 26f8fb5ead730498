import { describe, expect, test, vi } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import type { Clock } from '../../src/contracts/clock.ts'
import { PosthornError } from '../../src/errors.ts'
import { batcher } from '../../src/runtime/batcher.ts'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'

/** A batcher whose flushes are answered by hand. */
function byHand<Time extends Clock = FakeClock>(
  options: {
    batches?: boolean
    bytes?: number
    rows?: number
    maxInFlight?: number
    quickRows?: number
    workspaceOf?: (n: number) => string
    clock?: Time
  } = {},
) {
  const clock = options.clock ?? (fakeClock() as Clock as Time) // the default of `Time`
  const flushes: { batch: readonly number[]; answer(): void; fail(cause: unknown): void }[] = []
  const subject = batcher<number, string>({
    flush: (batch) =>
      new Promise((resolve, reject) => {
        flushes.push({ batch, answer: () => resolve(batch.map((n) => `answer ${n}`)), fail: reject })
      }),
    bytesOf: () => options.bytes ?? 1,
    rowsOf: () => options.rows ?? 1,
    maxInFlight: options.maxInFlight ?? 2,
    ...(options.quickRows !== undefined && { quickRows: options.quickRows }),
    workspaceOf: options.workspaceOf ?? (() => 'w'),
    clock,
    batches: options.batches ?? true,
  })
  return { clock, flushes, subject, sizes: () => flushes.map(({ batch }) => batch.length) }
}

const turn = () => new Promise((resolve) => setTimeout(resolve))
const unavailable = () => new PosthornError('unavailable', 'connection lost')

describe('a batcher', () => {
  test('flushes calls made side by side together, and answers each for itself', async () => {
    const { flushes, subject, sizes } = byHand()
    const answers = Promise.all([1, 2, 3].map((n) => subject.add(n)))
    await turn()
    expect(sizes()).toEqual([3])
    flushes[0]!.answer()
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  test('flushes the first rows of a turn at once, and those after them when the turn ends', async () => {
    const ends: (() => void)[] = []
    const clock: Clock = Object.assign(fakeClock(), { afterTurn: (end: () => void) => void ends.push(end) })
    const { flushes, subject } = byHand({ clock, quickRows: 3 })
    const batches = () => flushes.map(({ batch }) => batch)
    const answerAll = async () => {
      await turn()
      for (const { answer } of flushes) answer()
      await turn()
    }
    const makeCalls = async (numbers: readonly number[][]) => {
      for (const together of numbers) {
        for (const n of together) void subject.add(n)
        await answerAll()
      }
    }
    const endTurn = async () => {
      for (const end of ends.splice(0)) end()
      await answerAll()
    }
    await makeCalls([[1, 2], [3], [4], [5, 6]])
    expect(batches()).toEqual([[1, 2], [3]])
    await endTurn()
    expect(batches()).toEqual([[1, 2], [3], [4, 5, 6]])
    await endTurn()
    await makeCalls([[7, 8, 9], [10]])
    expect(batches().at(-1)).toEqual([7, 8, 9])
  })

  test('tells those who wait without a promise; what goes wrong with one of them is nothing to the others', async () => {
    const { flushes, subject } = byHand()
    const told: unknown[] = []
    const waiter = (n: number) => ({
      resolve: (answer: string) => void told.push(n, answer),
      reject: (cause: unknown) => void told.push(n, cause),
    })
    const bad = new Error('bad')
    const thrower = {
      ...waiter(2),
      resolve: () => {
        throw bad
      },
    }
    for (const [n, to] of [waiter(1), thrower, waiter(3)].entries()) subject.addFor(n, to)
    await turn()
    subject.addFor(3, waiter(4))
    flushes[0]!.answer()
    await turn()
    expect(told).toEqual([1, 'answer 0', 2, bad, 3, 'answer 2'])
    const cause = unavailable()
    flushes[1]!.fail(cause)
    await turn()
    flushes[2]!.fail(cause) // sent once more
    await turn()
    expect(told.slice(6)).toEqual([4, cause])
  })

  test('by the clock of the system gathers all that comes within a turn of the event loop', async () => {
    const { flushes, subject, sizes } = byHand({ clock: systemClock() })
    const answers = [subject.add(1)]
    for (let microtasks = 0; microtasks < 10; microtasks++) await Promise.resolve()
    answers.push(subject.add(2))
    expect(sizes()).toEqual([])
    await new Promise((resolve) => setImmediate(resolve))
    expect(sizes()).toEqual([2])
    flushes[0]!.answer()
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 2'])
  })

  test('is not held up by a test that replaces timers', async () => {
    const { flushes, subject } = byHand({ clock: systemClock() })
    vi.useFakeTimers()
    const answer = subject.add(1)
    vi.useRealTimers()
    await vi.waitFor(() => expect(flushes).toHaveLength(1))
    flushes[0]!.answer()
    expect(await answer).toBe('answer 1')
  })

  test('sends at once what waits for the turn to end, when it is to be idle', async () => {
    const { flushes, subject, sizes } = byHand({ clock: systemClock() })
    const answer = subject.add(1)
    const idle = subject.idle()
    expect(sizes()).toEqual([1])
    flushes[0]!.answer()
    expect(await answer).toBe('answer 1')
    await idle
  })

  test('has two flushes in flight at most; what comes meanwhile goes in the next, in order', async () => {
    const { clock, flushes, subject, sizes } = byHand()
    const answers: Promise<string>[] = []
    for (const n of [1, 2, 3, 4]) {
      answers.push(subject.add(n))
      await clock.advance(5)
    }
    expect(sizes()).toEqual([1, 1])
    flushes[1]!.answer()
    await clock.advance(5)
    expect(flushes[2]!.batch).toEqual([3, 4])
    flushes[0]!.answer()
    flushes[2]!.answer()
    expect(await Promise.all(answers)).toHaveLength(4)
  })

  test('has a second flush at once when it is worth it, else when the first takes longer than 5 ms', async () => {
    const { clock, flushes, subject, sizes } = byHand()
    const answers = [subject.add(0)]
    await turn()
    for (let n = 1; n < 32; n++) answers.push(subject.add(n))
    await turn()
    expect(sizes()).toEqual([1])
    answers.push(subject.add(32))
    await turn()
    expect(sizes()).toEqual([1, 32])
    flushes[1]!.answer()
    await turn()
    answers.push(subject.add(33))
    await clock.advance(4)
    expect(sizes()).toEqual([1, 32])
    await clock.advance(1)
    expect(sizes()).toEqual([1, 32, 1])
    flushes[0]!.answer()
    flushes[2]!.answer()
    expect(await Promise.all(answers)).toHaveLength(34)
  })

  test('lets what lingers go along with the next that does not, in order', async () => {
    const { flushes, subject, clock } = byHand()
    const answers = [subject.add(1, { lingers: true }), subject.add(2, { lingers: true })]
    await clock.advance(99)
    expect(flushes).toEqual([])
    answers.push(subject.add(3))
    await turn()
    expect(flushes.map(({ batch }) => batch)).toEqual([[1, 2, 3]])
    flushes[0]!.answer()
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  test('sends what lingers 100 ms after the first of it, though other flushes end before', async () => {
    const { flushes, subject, clock } = byHand()
    const answers = [subject.add(1)]
    await turn()
    answers.push(subject.add(2, { lingers: true }))
    flushes[0]!.answer()
    await clock.advance(30)
    answers.push(subject.add(3, { lingers: true }))
    await clock.advance(69)
    expect(flushes).toHaveLength(1)
    await clock.advance(1)
    expect(flushes[1]!.batch).toEqual([2, 3])
    answers.push(subject.add(4, { lingers: true }))
    await clock.advance(100)
    expect(flushes[2]!.batch).toEqual([4])
    flushes[1]!.answer()
    flushes[2]!.answer()
    expect(await Promise.all(answers)).toHaveLength(4)
  })

  test('sends what lingers once 16 entries wait', async () => {
    const { flushes, subject, sizes } = byHand()
    const answers = Array.from({ length: 15 }, (_, n) => subject.add(n, { lingers: true }))
    await turn()
    expect(sizes()).toEqual([])
    answers.push(subject.add(15, { lingers: true }))
    await turn()
    expect(sizes()).toEqual([16])
    flushes[0]!.answer()
    expect(await Promise.all(answers)).toHaveLength(16)
  })

  test('sends what lingers at once when somebody waits for the end', async () => {
    const { flushes, subject } = byHand()
    const answer = subject.add(1, { lingers: true })
    const idle = subject.idle()
    await turn()
    flushes[0]!.answer()
    await idle
    expect(await answer).toBe('answer 1')
  })

  test('cuts batches at 500 entries', async () => {
    const { flushes, subject, sizes } = byHand()
    const answers = Array.from({ length: 1200 }, (_, n) => subject.add(n))
    await turn()
    expect(sizes()).toEqual([500, 500])
    for (const flush of flushes.splice(0)) flush.answer()
    await turn()
    expect(sizes()).toEqual([200])
    flushes[0]!.answer()
    expect(await Promise.all(answers)).toHaveLength(1200)
  })

  test('cuts batches at 4 MiB, and sends a larger entry alone', async () => {
    const { flushes, subject, sizes } = byHand({ bytes: 3 * 1024 * 1024 })
    const answers = [1, 2].map((n) => subject.add(n))
    await turn()
    expect(sizes()).toEqual([1, 1])
    for (const flush of flushes) flush.answer()
    await Promise.all(answers)
  })

  test('cuts batches at 2,000 rows, and sends an entry of more rows alone', async () => {
    for (const { rows, expected } of [
      { rows: 800, expected: [2, 1] },
      { rows: 2001, expected: [1, 1] },
    ]) {
      const { flushes, subject, sizes } = byHand({ rows, bytes: 200_000 })
      for (const n of [1, 2, 3]) void subject.add(n)
      await turn()
      expect(sizes()).toEqual(expected)
      for (const { answer } of flushes) answer()
    }
  })

  test('that may have one flush in flight waits for its end, however long that takes', async () => {
    const { clock, flushes, subject, sizes } = byHand({ maxInFlight: 1, bytes: 200_000 })
    for (const n of [1, 2, 3]) void subject.add(n)
    await turn()
    for (const n of [4, 5]) void subject.add(n)
    await clock.advance(50)
    expect(sizes()).toEqual([3])
    flushes[0]!.answer()
    await turn()
    expect(sizes()).toEqual([3, 2])
  })

  test('sends a batch once more when its connection was lost', async () => {
    const { flushes, subject } = byHand()
    const answer = subject.add(1)
    await turn()
    flushes[0]!.fail(unavailable())
    await turn()
    flushes[1]!.answer()
    expect(await answer).toBe('answer 1')
  })

  test('gives up after the second loss, and on any other error at once', async () => {
    const { flushes, subject } = byHand()
    const lost = subject.add(1)
    await turn()
    flushes[0]!.fail(unavailable())
    await turn()
    flushes[1]!.fail(unavailable())
    await expect(lost).rejects.toMatchObject({ code: 'unavailable' })
    const broken = subject.add(2)
    await turn()
    flushes[2]!.fail(new Error('broken'))
    await expect(broken).rejects.toThrow('broken')
  })

  test('answers unavailable when a flush takes more than ten seconds', async () => {
    const { clock, subject } = byHand()
    const answer = subject.add(1)
    answer.catch(() => {})
    await turn()
    await clock.advance('10s')
    await expect(answer).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('takes one entry of each workspace, then the second of each: nobody waits behind thousands of another', async () => {
    const { flushes, subject } = byHand({ workspaceOf: (n) => (n < 5000 ? 'greedy' : `quiet ${n % 2}`) })
    const greedy = Array.from({ length: 5000 }, (_, n) => subject.add(n))
    await turn()
    const quiet = [5001, 5002, 5003, 5004, 5006].map((n) => subject.add(n))
    flushes.shift()!.answer()
    await turn()
    const batch = flushes.at(-1)!.batch
    expect(batch).toHaveLength(500)
    expect(batch.slice(0, 9)).toEqual([1000, 5001, 5002, 1001, 5003, 5004, 1002, 5006, 1003])
    expect(batch.filter((n) => n < 5000)).toEqual(Array.from({ length: 495 }, (_, n) => 1000 + n))
    while (flushes.length > 0) {
      for (const flush of flushes.splice(0)) flush.answer()
      await turn()
    }
    expect(await Promise.all([...greedy, ...quiet])).toHaveLength(5005)
  })

  test('turns go on from batch to batch, however many workspaces wait', async () => {
    const { flushes, subject } = byHand({ workspaceOf: (n) => `w${n % 700}` })
    for (let n = 0; n < 3500; n++) void subject.add(n)
    await turn()
    flushes[0]!.answer()
    await turn()
    const taken = flushes.flatMap(({ batch }) => batch)
    expect(taken).toEqual(Array.from({ length: 1500 }, (_, n) => n))
  })

  test('a workspace may fill three quarters of the room, and another one finds room at once', async () => {
    const { flushes, subject } = byHand({ workspaceOf: (n) => (n < 20_000 ? 'greedy' : 'quiet') })
    const refused: number[] = []
    for (let n = 0; n < 9000; n++) subject.add(n).catch(() => refused.push(n))
    await turn()
    expect(refused).toHaveLength(9000 - 7500)
    const quiet = Array.from({ length: 100 }, (_, n) => subject.add(20_000 + n))
    while (flushes.length > 0) {
      for (const flush of flushes.splice(0)) flush.answer()
      await turn()
    }
    expect(await Promise.all(quiet)).toHaveLength(100)
    expect(refused).toHaveLength(9000 - 7500)
  })

  test('refuses more than the share of 10,000 waiting entries, and takes them again when there is room', async () => {
    const { flushes, subject } = byHand()
    const answers = Array.from({ length: 11_000 }, (_, n) => subject.add(n).catch((error: PosthornError) => error.code))
    await turn()
    const late = subject.add(-1).catch((error: PosthornError) => error.code)
    while (flushes.length > 0) {
      for (const flush of flushes.splice(0)) flush.answer()
      await turn()
    }
    const overloaded = (await Promise.all(answers)).filter((answer) => answer === 'overloaded')
    expect(overloaded).toHaveLength(11_000 - 7500)
    expect(await late).toBe('answer -1')
  })

  test('that may not batch sends each entry alone and at once', () => {
    const { subject, sizes } = byHand({ batches: false })
    for (const n of [1, 2, 3]) void subject.add(n)
    expect(sizes()).toEqual([1, 1, 1])
  })

  test('is idle when nothing waits and nothing is in flight', async () => {
    const { flushes, subject } = byHand()
    await subject.idle()
    let idle = false
    const answer = subject.add(1)
    const waiting = subject.idle().then(() => (idle = true))
    await turn()
    expect(idle).toBe(false)
    flushes[0]!.answer()
    await Promise.all([answer, waiting])
    expect(idle).toBe(true)
  })
})
