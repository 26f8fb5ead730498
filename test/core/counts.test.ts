import { expect, test } from 'vitest'

import {
  addCode,
  codeOf,
  countNames,
  isCanceled,
  isExhausted,
  isSuccess,
  latencyBounds,
  noCounts,
} from '../../src/core/counts.ts'
import { percentile } from '../../src/core/percentile.ts'
import { maxTypes, typeNamer } from '../../src/core/counted-types.ts'
import { fold, notesIn } from '../../src/core/notes.ts'

const ending = (status: 'SUCCESSFUL' | 'FAILED' | 'CANCELED', exhausted = false, answer?: [number, number]) => ({
  status,
  exhausted,
  attempted_at: status === 'CANCELED' ? null : 1000,
  settled_at: 1300,
  response: answer === undefined ? null : { status: answer[0], latency: answer[1], headers: null, body: null },
})

function counted(code: number) {
  const counts = noCounts()
  addCode(counts, code)
  return Object.fromEntries(countNames.map((name, i) => [name, counts[i]]).filter(([, count]) => count !== 0))
}

test.each([
  [ending('SUCCESSFUL', false, [204, 0.4]), { succeeded: 1, within_4: 1, answered_2xx: 1 }],
  [ending('FAILED', false, [302, 4]), { failed: 1, within_4: 1, answered_3xx: 1 }],
  [ending('FAILED', true, [404, 4.5]), { failed: 1, exhausted: 1, within_8: 1, answered_4xx: 1 }],
  [ending('FAILED', true, [599, 60_000]), { failed: 1, exhausted: 1, beyond: 1, answered_5xx: 1 }],
  [ending('FAILED', false), { failed: 1, within_512: 1, unanswered: 1 }],
  [ending('FAILED', false, [NaN, NaN]), { failed: 1, beyond: 1, unanswered: 1 }],
  [ending('CANCELED'), { canceled: 1 }],
])('an ending counts by outcome, latency and class: %j', (of, counts) => {
  const code = codeOf(of)
  expect(counted(code)).toEqual(counts)
  expect([isSuccess(code), isExhausted(code), isCanceled(code)]).toEqual([
    of.status === 'SUCCESSFUL',
    of.exhausted,
    of.status === 'CANCELED',
  ])
})

test('a percentile lies in the bucket of the latency that it is of', () => {
  const latencies = Array.from({ length: 1000 }, (_, i) => i * i * 0.004)
  const counts = noCounts()
  for (const latency of latencies) addCode(counts, codeOf(ending('SUCCESSFUL', false, [200, latency])))
  for (const share of [0.01, 0.5, 0.9, 0.95, 0.99, 1]) {
    const exact = latencies[Math.ceil(share * 1000) - 1]!
    const top = latencyBounds.find((bound) => exact <= bound) ?? 8192
    const bottom = latencyBounds.findLast((bound) => bound < top) ?? 0
    const told = percentile(counts, share)!
    expect(told, `${share} of ${exact}`).toBeGreaterThanOrEqual(bottom)
    expect(told, `${share} of ${exact}`).toBeLessThanOrEqual(top)
  }
  expect(percentile(noCounts(), 0.5)).toBeNull()
})

test('types beyond a thousand are counted together, and known ones stay', () => {
  const typeOf = typeNamer(new Map([['1', new Set(['old'])]]))
  const names = Array.from({ length: maxTypes }, (_, i) => typeOf('1', `type ${i}`))
  expect(names.slice(-2)).toEqual([`type ${maxTypes - 2}`, '*'])
  expect([typeOf('1', 'old'), typeOf('1', 'type 3'), typeOf('2', 'new')]).toEqual(['old', 'type 3', 'new'])
})

test('notes are folded by minute, by hour and type, and by workspace', () => {
  const code = codeOf(ending('SUCCESSFUL', false, [200, 1]))
  const note = (place: number, type: string, at: number) => `[${place},"ep",${JSON.stringify(type)},${at},${code}]`
  const text = [note(1, 'a"b', 0), note(1, 'a"b', 59_999), note(1, 'c', 60_000), note(2, 'c', 60_000)].join(',')
  const { minutes, hours, streaks, causes } = fold(notesIn(text), (_, type) => type)
  const told = (sums: typeof minutes) =>
    sums.map(({ place, time, event_type, counts }) => [place, time, event_type, counts[0]])
  expect(told(minutes)).toEqual([
    ['1', 0, '', 2],
    ['1', 60_000, '', 1],
    ['2', 60_000, '', 1],
  ])
  expect(told(hours)).toEqual([
    ['1', 0, 'a"b', 2],
    ['1', 0, 'c', 1],
    ['2', 0, 'c', 1],
  ])
  expect(streaks.map(({ place, succeeded_at }) => [place, succeeded_at])).toEqual([
    ['1', 60_000],
    ['2', 60_000],
  ])
  expect(causes).toEqual([])
})
