import { expect, test } from 'vitest'

import { foldGently, foldNotes } from '../../src/services/fold-notes.ts'

/** Steps that take so many milliseconds each, the last of which finds nothing; answers how long the fold rested after each. */
async function restsOf(steps: readonly number[], until?: { aborted: boolean }): Promise<readonly number[]> {
  const left = [...steps]
  const rests: number[] = []
  let time = 0
  const fold = async () => {
    time += left.shift()!
    return left.length
  }
  const clock = { elapsed: () => time, sleep: async (ms: number) => void rests.push(ms) }
  await foldGently({ fold }, clock, until)
  return rests
}

test('the minute’s fold rests after a step for as long as the step took, a tenth of a second at most', async () => {
  expect(await restsOf([30, 0.4, 900, 5])).toEqual([30, 100])
})

test('it ends after a step once it is to end, and does not rest then', async () => {
  expect(await restsOf([30, 30, 5], { aborted: true })).toEqual([])
})

test('who asks for a fold during one shares the next with all who ask meanwhile', async () => {
  const steps: (() => void)[] = []
  const fold = () => new Promise<number>((resolve) => steps.push(() => resolve(0)))
  const storage = { statistics: { fold } }
  const asked = [foldNotes({ storage }), foldNotes({ storage }), foldNotes({ storage })]
  expect(steps.length).toBe(1)
  steps[0]!()
  await asked[0]
  await expect.poll(() => steps.length).toBe(2)
  steps[1]!()
  await Promise.all(asked)
  expect(steps.length).toBe(2)
})
