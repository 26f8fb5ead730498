import { describe, expect, test } from 'vitest'

import { commands, posthorn } from '../support/cli.ts'

describe('help', () => {
  test('lists every command', async () => {
    const { out, code } = await posthorn(['--help'])
    expect(code).toBe(0)
    for (const [word] of commands.map((each) => each.split(' '))) expect(out).toMatch(new RegExp(`^  ${word}\\b`, 'm'))
  })

  test.each(commands)('%s has an example and --json, in 80 columns', async (words) => {
    const { code, out } = await posthorn([...words.split(' '), '--help'], { env: { FORCE_COLOR: '1' } })
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`Example:\\n.*posthorn ${words}`))
    expect(out).toContain('--json')
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(out).not.toContain('\u001b')
  })
})

describe('a command that is called wrongly exits with 2', () => {
  test.each([
    [[]],
    [['srve']],
    [['serve', '--prot', '1']],
    [['events', 'send']],
    [['events', 'send', 'a.b', '{']],
    [['listen']],
    [['sync', '/nowhere/at/all.yaml']],
    [['replay', '--since', 'yesterday']],
    [['deliveries', 'retry']],
    [['verify']],
    [['secrets', 'reseal']],
    [['secrets', 'status']],
    [['portal-link']],
    [['dump', '--url', 'localhost:9601']],
    [['serve', '--config', '/nowhere/posthorn.config.js']],
  ])('%j', async (args) => {
    const { code, out, err } = await posthorn(args)
    expect({ code, out: args.length === 0 ? '' : out }).toEqual({ code: 2, out: '' })
    expect(err.trim()).not.toBe('')
    expect(err).not.toMatch(/^ {4}at /m)
  })
})

test('a command that fails exits with 1 and says why in one line, as JSON where that is asked for', async () => {
  const url = 'http://127.0.0.1:1'
  const said = `${url} does not answer (no connection): is the server running, and is --url right?`
  expect(await posthorn(['dump', '--url', url])).toEqual({ code: 1, out: '', err: `posthorn: ${said}\n` })
  const json = await posthorn(['dump', '--url', url, '--json'])
  expect([json.code, JSON.parse(json.err)]).toEqual([1, { error: said }])
})
