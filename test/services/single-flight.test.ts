import { expect, test } from 'vitest'

import { singleFlight } from '../../src/runtime/single-flight.ts'

test('many who ask at once cost two questions, and nobody gets an answer from before the call', async () => {
  let truth = 'before'
  let questions = 0
  const flights = singleFlight(async (_key: string) => {
    questions++
    const seen = truth
    await Promise.resolve()
    return seen
  })
  const first = flights.ask('a')
  truth = 'after'
  const others = Array.from({ length: 10 }, () => flights.ask('a'))
  expect(await first).toBe('before')
  expect(await Promise.all(others)).toEqual(Array.from({ length: 10 }, () => 'after'))
  expect(questions).toBe(2)
})

test('a question that fails fails for those who asked it, and the next is asked all the same', async () => {
  let questions = 0
  const flights = singleFlight(async (_key: string) => {
    if (++questions === 1) throw new Error('away')
    return questions
  })
  const [first, second] = [flights.ask('a'), flights.ask('a')]
  await expect(first).rejects.toThrow('away')
  expect(await second).toBe(2)
})

test('what was overtaken is shared with nobody who comes later', async () => {
  const seen: string[] = []
  const flights = singleFlight(async (key: string, flight) => {
    await Promise.resolve()
    seen.push(`${key} ${flight.isOvertaken}`)
  })
  const all = ['a', 'b'].map((key) => flights.ask(key))
  flights.overtake('a')
  expect([flights.running('a') === undefined, flights.running('b') === undefined]).toEqual([true, false])
  await Promise.all([...all, flights.ask('a')])
  flights.overtake()
  expect(seen).toEqual(['a true', 'b false', 'a false'])
})
