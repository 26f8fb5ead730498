import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { settings } from '../../adapters/cli/settings.ts'
import { readSettings } from '../../adapters/cli/read-settings.ts'
import { settingsTable } from '../support/settings-table.ts'

test('docs/cli.md has the table of the code', () => {
  const [, table] = /<!-- settings: [^>]*-->\n\n(.*?)\n\n<!-- end/s.exec(readFileSync('docs/cli.md', 'utf8')) ?? []
  expect(table).toBe(settingsTable())
})

test('the defaults are those of the options', () => {
  const readme = readFileSync('src/settings.ts', 'utf8')
  for (const name of ['concurrency', 'perEndpoint'] as const) {
    expect(readme).toContain(`${name}: count(${settings[name].byDefault})`)
  }
})

test('an empty variable counts as not set, but for DENY, where it turns the list off', () => {
  const empty = Object.fromEntries(Object.values(settings).map(({ variable }) => [variable, '']))
  const read = readSettings(empty)
  expect(read.problems).toEqual([])
  expect(read.settings).toEqual({ ...readSettings({}).settings, deny: [] })
})

test('lists, flags and numbers are read from texts and from values', () => {
  const env = { DENY: '@private, 10.0.0.1', POSTHORN_HTTPS_ONLY: '1', POSTHORN_DATABASE_PREPARE: 'false' }
  expect(readSettings(env, { concurrency: 5, allow: ['@loopback'], httpsOnly: false })).toMatchObject({
    problems: [],
    settings: {
      deny: ['@private', '10.0.0.1'],
      httpsOnly: true,
      databasePrepare: false,
      concurrency: 5,
      allow: ['@loopback'],
    },
  })
})

test('a secret is in no message', () => {
  const env = { ADMIN_TOKEN: 'two words', DATABASE_URL: 'mysql://root:hunter2@db', REDIS_URL: 'hunter2' }
  const { problems } = readSettings(env)
  expect(problems).toHaveLength(3)
  expect(problems.join()).not.toMatch(/hunter2|two words/)
})
