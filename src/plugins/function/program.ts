import type { Run } from './ending.ts'
import type { Hmac } from './host.ts'
import { makeSandbox, type Sandbox } from './sandbox.ts'

type Parameters = globalThis.Parameters<typeof makeSandbox>

/** What a process runs: modules are `quickjs-emscripten-core` and its engine. */
export default function program([quickjs, variant]: readonly [Parameters[0], unknown], hmac: Hmac): Sandbox {
  const engine = (variant as { default?: unknown }).default ?? variant // a CommonJS module of an ES module, or itself
  const sandbox = makeSandbox(quickjs, engine as Parameters[1], hmac)
  return (run: Run) => sandbox(run)
}
