import { describe, expect, test } from 'vitest'

import { PluginTime } from '../../src/services/plugin-time.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const late = () => new Error('late')

/** A time of 100 ms, and a work that the test ends. */
function begun() {
  const clock = Object.assign(fakeClock(), { ready: async () => {} })
  const time = new PluginTime(clock, 100)
  let finish = (_answer: string): void => {}
  const told: string[] = []
  const begin = () =>
    void time.within(new Promise<string>((resolve) => (finish = resolve)), late).then(
      (answer) => told.push(answer),
      (cause: Error) => told.push(cause.message),
    )
  return { clock, time, told, begin, finish: (answer: string) => finish(answer) }
}

describe('the time of plugins', () => {
  test('ends work that takes longer', async () => {
    const { clock, told, begin } = begun()
    begin()
    await clock.advance(99)
    expect(told).toEqual([])
    await clock.advance(1)
    expect(told).toEqual(['late'])
  })

  test('stands still while something is waited for, and goes on where it stood', async () => {
    const { clock, time, told, begin } = begun()
    begin()
    await clock.advance(60)
    const [one, other] = [time.pause(), time.pause()]
    await clock.advance(500)
    one()
    one()
    await clock.advance(500)
    other()
    await clock.advance(39)
    expect(told).toEqual([])
    await clock.advance(1)
    expect(told).toEqual(['late'])
  })

  test('does not begin before a wait that began with the work is over', async () => {
    const { clock, time, told, begin, finish } = begun()
    const resume = time.pause()
    begin()
    await clock.advance(500)
    resume()
    await clock.advance(99)
    finish('done')
    await clock.advance(500)
    expect(told).toEqual(['done'])
  })
})
