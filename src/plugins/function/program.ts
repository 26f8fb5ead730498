import type { Ending, Run } from './ending.ts'
import type { Hmac } from './host.ts'
import { makeSandbox } from './sandbox.ts'

type Parameters = globalThis.Parameters<typeof makeSandbox>

const subject = { side: 'inbound', host: '', method: 'POST', path: '/', headers: {}, body: '' } as const
const empty: Run = { source: 'function handle() {}', subject, timeMs: 1000 }

/** What a process runs. `modules` are `quickjs-emscripten-core` and the engine's WebAssembly. */
export default async function program(
  [quickjs, variant]: readonly [Parameters[0], unknown],
  hmac: Hmac,
): Promise<((run: Run) => Promise<Ending>) & { afterwards(): Promise<void> }> {
  const engine = (variant as { default?: unknown }).default ?? variant // a CommonJS module of an ES module, or itself
  const sandbox = makeSandbox(quickjs, engine as Parameters[1], hmac)
  // The first run compiles the engine: that time is none of a tenant's.
  await sandbox.run(empty)
  await sandbox.prepare()
  return Object.assign((run: Run) => sandbox.run(run), { afterwards: () => sandbox.prepare() })
}
