import { stringify } from 'yaml'
import { expect, test } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import { yamlOf, yamlToJson } from '../../src/http/yaml.ts'
import { random } from '../../src/testing/random.ts'

const clock = systemClock()
const pieces = [
  'a',
  ' ',
  '  ',
  '\n',
  '\n\n',
  '\r',
  '\t',
  ': ',
  '# ',
  '- ',
  '"',
  "'",
  '\\',
  '|',
  '>',
  '%',
  '*',
  '&',
  '\u2028',
  '\u0085',
  '😀',
]
const words = ['', 'true', 'null', '~', '1', '0x1', '1e3', '2026-01-01', '- x', '? y', '{a', '[b', '!tag', '@', '`']

test('entries that are written one by one make the document that the library makes of the whole', async () => {
  const dice = random(7)
  const text = (): string =>
    dice.below(3) === 0 ? dice.of(words) : Array.from({ length: dice.below(12) }, () => dice.of(pieces)).join('')
  const value = (depth: number): unknown => {
    switch (dice.below(depth > 2 ? 4 : 7)) {
      case 0:
        return dice.below(1000) - 500
      case 1:
        return dice.of<unknown>([true, false, null])
      case 4:
        return Array.from({ length: dice.below(4) }, () => value(depth + 1))
      case 5:
      case 6:
        return Object.fromEntries(Array.from({ length: dice.below(5) }, () => [text(), value(depth + 1)]))
      default:
        return text()
    }
  }
  let same = 0
  for (let round = 0; round < 300; round++) {
    const entries = () =>
      Array.from({ length: dice.below(4) }, (_, i) => ({ name: `e${i}`, [text()]: value(0), [text()]: value(0) }))
    const lists = { sources: entries(), endpoints: entries() }
    const written = await yamlOf(clock, lists)
    const whole = stringify(lists, {
      version: '1.2',
      sortMapEntries: true,
      lineWidth: 0,
      blockQuote: 'literal',
      aliasDuplicateObjects: false,
    })
    // The library writes blanks as a block literal, and loses them when it reads it.
    if (!/"(?: |\\t|\\n)*"/.test(JSON.stringify(lists))) {
      expect(written).toBe(whole)
      same++
    }
    expect(JSON.parse(await yamlToJson(clock, written!))).toEqual(lists)
  }
  expect(same).toBeGreaterThan(50)
})
