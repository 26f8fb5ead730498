import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { definePlugin, type PluginKind } from '../../src/contracts/plugin.ts'
import { PosthornError } from '../../src/errors.ts'
import { registry } from '../../src/plugins/registry.ts'

function kind(name: string, place: { before?: readonly string[]; after?: readonly string[] } = {}): PluginKind {
  return definePlugin({ name, sides: ['inbound', 'outbound'], config: v.object({}), prepare: () => ({}), ...place })
}

const fixed = [
  'basic-auth',
  'key-auth',
  'hmac-auth',
  'connect-auth',
  'event-validation',
  'function',
  'standard-webhooks',
  'webhookx-signature',
]

function order(custom: readonly PluginKind[]): readonly string[] {
  const plugins = registry(custom)
  return [...fixed, ...custom.map(({ name }) => name).filter((name) => !fixed.includes(name))].toSorted(
    (one, other) => plugins.rank(one) - plugins.rank(other),
  )
}

function problem(custom: readonly PluginKind[]): PosthornError | null {
  try {
    registry(custom)
    return null
  } catch (error) {
    return error as PosthornError
  }
}

describe('the registry of plugin kinds', () => {
  test('knows the built-in kinds and those of the host', () => {
    const mask = kind('mask')
    const plugins = registry([mask])
    expect(plugins.get('mask')).toBe(mask)
    expect(plugins.get('hmac-auth')?.sides).toEqual(['inbound'])
    expect(plugins.get('webhookx-signature')?.sides).toEqual(['outbound'])
    expect(plugins.get('event-validation')).toBeUndefined()
    expect(plugins.get('constructor')).toBeUndefined()
  })

  test('runs guards first and signatures last', () => {
    expect(order([])).toEqual(fixed)
  })

  test('gives event-validation and function their place when a host registers them', () => {
    const plugins = registry([kind('function'), kind('event-validation')])
    expect(plugins.get('function')?.name).toBe('function')
    expect(order([kind('function'), kind('event-validation')])).toEqual(fixed)
    expect(plugins.rank('event-validation')).toBeLessThan(plugins.rank('function'))
  })

  test('runs a custom kind before what is signed, in the order of registration', () => {
    const custom = [kind('mask'), kind('compress')]
    expect(order(custom)).toEqual([...fixed.slice(0, 6), 'mask', 'compress', ...fixed.slice(6)])
  })

  test('puts a custom kind where it asks to run', () => {
    expect(order([kind('unzip', { before: ['basic-auth'] })])[0]).toBe('unzip')
    expect(order([kind('audit', { after: ['webhookx-signature'] })]).at(-1)).toBe('audit')
    expect(order([kind('trace', { after: ['key-auth'], before: ['hmac-auth'] })]).slice(1, 4)).toEqual([
      'key-auth',
      'trace',
      'hmac-auth',
    ])
  })

  test('lets custom kinds name one another, whichever comes first', () => {
    const custom = [kind('second', { after: ['first'] }), kind('first')]
    expect(order(custom).slice(6, 8)).toEqual(['first', 'second'])
  })

  test('refuses a name that stands twice', () => {
    expect(problem([kind('mask'), kind('mask')])?.message).toBe("createPosthorn: plugin 'mask' is registered twice")
    expect(problem([kind('basic-auth')])?.message).toBe("createPosthorn: plugin 'basic-auth' is registered twice")
  })

  test('refuses a place by a kind that is not there', () => {
    const error = problem([kind('mask', { before: ['signatures'] })])
    expect(error).toBeInstanceOf(PosthornError)
    expect(error?.code).toBe('validation')
    expect(error?.message).toBe("createPosthorn: plugin 'mask' names its place by unknown plugin 'signatures'")
  })

  test('refuses places that go in a circle', () => {
    expect(problem([kind('a', { after: ['b'] }), kind('b', { after: ['a'] })])?.message).toContain('go in a circle')
    expect(problem([kind('a', { after: ['a'] })])?.message).toContain('go in a circle')
    expect(problem([kind('a', { after: ['function'], before: ['key-auth'] })])?.message).toContain('go in a circle')
  })
})
