import { hmac as hmacOf } from '@noble/hashes/hmac.js'
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'

import type { HashName, Platform, ThreadScript } from '../../contracts/platform.ts'
import { PosthornError } from '../../errors.ts'
import { lazy } from '../../runtime/lazy.ts'
import { makePool, type Tenant } from '../pool/pool.ts'
import { type Ending, endingOf, type Run } from './ending.ts'
import program from './program.ts?text'
import type { Sandbox } from './sandbox.ts'
import { ownThreadTimeMs, processTimeMs } from './time-limit.ts'

/** Whose run it is. Runs that exceed their limits are remembered by the identity of `script`. */
export interface Runs {
  readonly script: object
  readonly tenant: Tenant
  readonly signal?: AbortSignal
  /** Called when the wait for a process is over. */
  readonly onTurn?: (() => void) | undefined
}

/** Runs functions, in processes or in the request's own thread. */
export interface Runner {
  /** Finds out whether it can run anything. @throws PosthornError `internal` that tells what to install */
  load(): Promise<void>
  run(whose: Runs, run: Omit<Run, 'timeMs'>): Promise<Ending | 'busy'>
  /** Ends the processes; a later run starts new processes. */
  close(): void
}

const core = 'quickjs-emscripten-core'
const engine = '@jitl/quickjs-wasmfile-release-sync'
const script: ThreadScript = { text: program, modules: [core, engine], heapBytes: 64 * 1024 * 1024 }

/** In processes, killed after `timeMs` (see time-limit.ts). */
export function processRunner(thread: NonNullable<Platform['thread']>, timeMs = processTimeMs): Runner {
  const pool = makePool((yields) => thread({ ...script, yields }), { size: 2, places: 258, timeMs })
  return {
    async load() {
      const probe = await thread(script)
      probe.kill()
    },
    async run({ script, tenant, signal, onTurn }, run) {
      const outcome = await pool.run<Ending>({
        tenant,
        script,
        signal,
        onTurn,
        work: async (call) => endingOf(await call({ ...run, timeMs })),
        // The memory that a run filled is not given back before long.
        judge: (ending) => (ending.kind !== 'exceeded' ? 'well' : ending.limit === 'memory' ? 'spent' : 'exceeded'),
      })
      if (outcome.kind === 'answer') return outcome.answer
      if (outcome.kind === 'busy') return 'busy'
      // What ends the process itself went beyond what the sandbox could bound: that is memory.
      return { kind: 'exceeded', lines: [], limit: outcome.kind === 'time' ? 'time' : 'memory' }
    },
    close: pool.close,
  }
}

const hashes = { md5, 'sha-1': sha1, 'sha-256': sha256, 'sha-512': sha512 }

/** In the thread of the caller, for at most `ownThreadTimeMs`. `wasm` is for runtimes that cannot compile WebAssembly themselves. */
export function ownThreadRunner(wasm?: WebAssembly.Module): Runner {
  const sandbox = lazy(async (): Promise<Sandbox> => {
    const [quickjs, variant, { makeSandbox }, { lengthBounds }] = await Promise.all([
      import('quickjs-emscripten-core'),
      import('@jitl/quickjs-wasmfile-release-sync'),
      import('./sandbox.ts'),
      import('./lengths.ts'),
    ]).catch((cause: unknown) => {
      throw new PosthornError('internal', `The function plugin needs: npm install ${core} ${engine}`, { cause })
    })
    const hmac = (hash: HashName, key: Uint8Array, data: Uint8Array) => hmacOf(hashes[hash], key, data)
    return makeSandbox(quickjs, variant.default, hmac, { wasmModule: wasm, first: lengthBounds })
  })
  return {
    async load() {
      await sandbox()
    },
    run: async (_whose, run) => (await sandbox()).run({ ...run, timeMs: ownThreadTimeMs }),
    close() {},
  }
}
