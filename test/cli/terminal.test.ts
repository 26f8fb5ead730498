import { expect, test } from 'vitest'

import { fitted } from '../../adapters/cli/terminal.ts'

test('a line that is too long goes on below, further in; others and long words stay', () => {
  const url = 'https://hooks.example/a/path/that/is/longer'
  const text = `2 settings are wrong:\n  the first one is wrong for a reason\n  ${url} is wrong`
  expect(fitted(text, 24).split('\n')).toEqual([
    '2 settings are wrong:',
    '  the first one is',
    '    wrong for a reason',
    `  ${url}`,
    '    is wrong',
  ])
  expect(fitted(text, Infinity)).toBe(text)
  for (const line of fitted('of words that are short '.repeat(20).trim(), 40).split('\n')) {
    expect(line.length).toBeLessThanOrEqual(40)
  }
})
