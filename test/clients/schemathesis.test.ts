import { mkdir } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { made, run } from './run.ts'
import { served } from './server.ts'
import { missing, withPython } from './toolchains.ts'

/** What schemathesis finds, and what is meant. */
const meant = [
  // Bounds of any size are compared, also those beyond 64 bits.
  /^- ST201 [^]*parameter `\w+_at\[\w+\]` in query - .*(greater than maximum|less than minimum)/m,
  // An event of a batch that is refused refuses no other: its error stands at its place, and the answer is 200.
  /^- ST201 [^]*^\s*`\[[^\n]*"error":\{"status":400/m,
  // A key that was used with another request is refused: the data is valid, and yet not what the key stands for.
  /^- ST202 [^]*Idempotency-Key: was used with another request/m,
  // `replay`, `batch` and `erase` can be ids of events, `ensure` that of a workspace: their methods stand in Allow too.
  /^- ST205 [^]*`Allow: GET, HEAD, POST, DELETE`[^]*\/events\/(replay|batch|erase)/m,
  /^- ST205 [^]*`Allow: GET, HEAD, POST, PUT, PATCH, DELETE`[^]*\/workspaces\/ensure/m,
]

/** All that it says. It ends with status 1 when it found something. */
async function schemathesis(url: string): Promise<string> {
  const options = ['--checks', 'all', '--max-examples', '10', '--seed', '1', '--no-color']
  const args = ['--config-file', 'schemathesis.toml', 'run', `${url}/openapi.json`, ...options]
  const program = `${made}/python/bin/schemathesis`
  return await run('sh', ['-c', '"$0" "$@"; test $? -le 1', program, ...args], { COLUMNS: '300' })
}

test('schemathesis finds nothing with all its checks but what is meant', async ({ skip }) => {
  const reason = await missing([withPython])
  if (reason !== null) return skip(reason)
  await mkdir(made, { recursive: true })
  const { url, close } = await served()
  try {
    const told = await schemathesis(url)
    expect(told).toMatch(/Test cases:\s+\d{3,} generated/)
    const failures = told.split(/^\d+\. Test Case ID: /m).slice(1)
    const findings = failures.flatMap((failure) => failure.split(/^(?=- ST\d+ )/m).slice(1))
    expect(findings.length).toBeGreaterThanOrEqual(failures.length)
    expect(findings.filter((finding) => !meant.some((known) => known.test(finding)))).toEqual([])
  } finally {
    close()
  }
})
