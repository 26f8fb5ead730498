import { expect, test } from 'vitest'

import { plainPattern } from '../../src/plugins/event-validation/plain-pattern.ts'

const plain = ['^', '^$', '^[a-z ]*$', '^[A-Z]{3}-\\d+$', '^\\+?[0-9]{6,15}$', '^[^@]+@[^@]+$', '^[\\w.-]+', '^a{2,3}b']
const other = [
  'a',
  '(^a)',
  '^a|b',
  '^(a|b)$',
  '^a*a$',
  '^[a-z]*[a-f]$',
  '^a*[^b]$',
  '^.$',
  '^\\s$',
  '^é$',
  '^a*?$',
  '^$a',
]

test.each(plain)('%s is decided by one look at each character', (source) => {
  expect(plainPattern(source)).not.toBeNull()
})

test.each(other)('%s is left to the engine of patterns', (source) => {
  expect(plainPattern(source)).toBeNull()
})

test('a plain pattern says what a regular expression says', () => {
  const sets = [
    'a',
    '-',
    '\\.',
    '\\d',
    '\\w',
    '[a-c]',
    '[^a]',
    '[^a-c\\d]',
    '[\\w-]',
    '[a\\-z]',
    '[-a]',
    '[+--]',
    '[^]',
    '[]',
  ]
  const times = ['', '*', '+', '?', '{2}', '{1,3}', '{2,}', '{0}']
  const texts = [
    '',
    'a',
    'aa',
    'aaaa',
    'ab-',
    'b',
    '-',
    '--a',
    '1',
    'a1',
    '.',
    '_',
    '😀',
    'a😀',
    '😀😀',
    'é',
    '\ud800',
    '\n',
    ',',
  ]
  let read = 0
  for (const [i, first] of sets.entries()) {
    for (const [j, second] of sets.entries()) {
      for (const end of ['', '$']) {
        const source = `^${first}${times[(i + j) % times.length]}${second}${times[(3 * i + j) % times.length]}${end}`
        const matches = plainPattern(source)
        if (matches === null) continue
        read++
        const regExp = new RegExp(source, 'u')
        for (const text of texts) expect([source, text, matches(text)]).toEqual([source, text, regExp.test(text)])
      }
    }
  }
  expect(read).toBeGreaterThan(100)
})

test('the time grows with the length of the text and no faster', () => {
  const matches = plainPattern('^a*b*c*d*e*$')!
  const from = performance.now()
  expect(matches(`${['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(200_000)).join('')}!`)).toBe(false)
  expect(performance.now() - from).toBeLessThan(1000)
})
