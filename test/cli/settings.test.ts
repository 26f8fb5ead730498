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

test.each([
  ['POSTHORN_CONCURENCY', 'POSTHORN_CONCURRENCY'],
  ['POSTHORN_LOGLEVEL', 'POSTHORN_LOG_LEVEL'],
  ['POSTHORN_ROLES', 'POSTHORN_ROLE'],
  ['POSTHORN_TOKENS', 'POSTHORN_TOKEN'],
  // Names without what most begin with, and parts of names.
  ['POSTHORN_HOST', 'HOST'],
  ['POSTHORN_DATABASE_URL', 'DATABASE_URL'],
  ['POSTHORN_PORT_ADMIN', 'PORT_ADMIN'],
  ['POSTHORN_TIMEOUT', 'POSTHORN_TIMEOUT_MS'],
  ['POSTHORN_POOL', 'POSTHORN_DATABASE_POOL'],
  // All of these are as far from a setting as from another.
  ['POSTHORN_NOPE', null],
  ['POSTHORN_X', null],
  ['POSTHORN_', null],
  ['POSTHORN_DEBUG', null],
  ['POSTHORN_DAYS', null],
  ['POSTHORN_MAX', null],
])('%s is no setting, and %s is meant', (name, meant) => {
  const guess = meant === null ? '' : `; did you mean ${meant}?`
  expect(readSettings({ [name]: '1' }).problems).toEqual([`${name} is no setting${guess}`])
})

test.each([
  ['rolle', 'role'],
  ['pool', 'databasePool'],
  ['pluginKind', 'pluginKinds'],
  ['nope', null],
])('%s of a file is no setting, and %s is meant', (name, meant) => {
  const guess = meant === null ? '' : `; did you mean ${meant}?`
  expect(readSettings({}, { [name]: '1' }).problems).toEqual([`${name} is no setting${guess}`])
})
