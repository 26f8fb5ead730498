import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { standardWebhooks } from '../../src/plugins/standard-webhooks.ts'
import { verifyWebhook } from '../../src/verify.ts'
import { outboundContext, sent } from '../plugins/fixtures.ts'
import { made, run } from './run.ts'
import { classPath, missing, python, type Toolchain, withGo, withMaven, withPython, withRust } from './toolchains.ts'

// What we sign verifies with the libraries of other languages, and what they sign verifies with us.

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = '{"name":"Zoë 🐎","n":1.0}'

interface Library {
  readonly name: string
  readonly needs: readonly Toolchain[]
  /** Runs the program of the language with a delivery of ours; the answer is JSON. */
  ask(given: string): Promise<string>
}

const libraries: readonly Library[] = ['standardwebhooks', 'svix'].flatMap((library): Library[] => [
  {
    name: `${library} of Python`,
    needs: [withPython],
    ask: (given) => run(python, ['python/signatures.py', library, given]),
  },
  { name: `${library} of Go`, needs: [withGo], ask: (given) => run('go', ['run', './go/signatures', library, given]) },
  {
    name: `${library} of Rust`,
    needs: [withRust],
    ask: (given) => {
      const options = ['--quiet', '--manifest-path', 'rust/Cargo.toml', '--target-dir', `${made}/rust`]
      return run('cargo', ['run', ...options, '--', library, given])
    },
  },
  {
    name: `${library} of Java`,
    needs: [withMaven],
    async ask(given) {
      const { headers } = JSON.parse(given) as { headers: Record<string, string> }
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
      const values = [library, secret, ...names.map((name) => headers[name] ?? ''), body]
      const encoding = ['-Dfile.encoding=UTF-8', '-Dsun.jnu.encoding=UTF-8', '-Dstdout.encoding=UTF-8']
      const path = (await readFile(classPath, 'utf8')).trim()
      return await run('java', [...encoding, '-cp', path, 'java/Signatures.java', ...values], { LC_ALL: 'C.UTF-8' })
    },
  },
])

describe('signatures', () => {
  test.for(libraries)('$name', async ({ needs, ask }, { skip }) => {
    const reason = await missing(needs)
    if (reason !== null) return skip(reason)
    const context = { ...outboundContext({ data: body }), now: Date.now() }
    const { headers } = await sent(standardWebhooks, { secrets: [secret] }, body, context)
    const answer = JSON.parse(await ask(JSON.stringify({ secret, body, headers }))) as {
      readonly verified: unknown
      readonly refused: boolean
      readonly headers: Record<string, string>
    }
    expect(answer.verified).toEqual(JSON.parse(body))
    expect(answer.refused).toBe(true)
    expect(await verifyWebhook({ headers: answer.headers, body }, secret)).toEqual(JSON.parse(body))
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    await expect(verifyWebhook({ headers: answer.headers, body }, other)).rejects.toThrow(/signature/)
  })
})
