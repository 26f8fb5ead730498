import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { english } from '../../src/pages/app/english/index.ts'

const app = 'src/pages/app'
const views = readdirSync(app, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('english'))
  .map((file) => readFileSync(join(app, file), 'utf8'))
  .join('\n')

test('every text is shown somewhere', () => {
  const made = [...views.matchAll(/tOf\('(\w+)'|t\(`([\w.]+)\.\$\{/g)].map(([, prefix, path]) => `${prefix ?? path}.`)
  expect(made).toContain('status.')
  const isShown = (key: string) => views.includes(`'${key}'`) || made.some((prefix) => key.startsWith(prefix))
  expect(Object.keys(english).filter((key) => !isShown(key))).toEqual([])
})
