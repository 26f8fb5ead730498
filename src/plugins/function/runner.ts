import { hmac as hmacOf } from '@noble/hashes/hmac.js'
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'

import type { HashName, Platform, ThreadScript } from '../../contracts/platform.ts'
import { PosthornError } from '../../errors.ts'
import { makePool } from './pool.ts'
import { type Ending, makeSandbox, type Run, type Sandbox } from './sandbox.ts'

/** Runs functions one way or the other. `script` is who runs: those that proved slow never hold all threads. */
export interface Runner {
  /** Finds out whether it can run anything. @throws PosthornError `internal` that tells what to install */
  load(): Promise<void>
  run(script: object, run: Omit<Run, 'timeMs'>, signal?: AbortSignal): Promise<Ending | 'busy'>
  /** Lets go of its threads; a later run starts them anew. */
  close(): void
}

const core = 'quickjs-emscripten-core'
const engine = '@jitl/quickjs-wasmfile-release-sync'

const script: ThreadScript = {
  // Bundlers that keep names call `__name` inside functions, which here would be left behind.
  text: `(modules, hmac) => {
    const __name = (value) => value
    return (${makeSandbox.toString()})(modules[0], modules[1].default ?? modules[1], hmac)
  }`,
  modules: [core, engine],
}

/** In threads, killed after `timeMs`, 1000 by default. */
export function threadRunner(thread: NonNullable<Platform['thread']>, timeMs = 1000): Runner {
  const pool = makePool(() => thread(script), { size: 2, waiting: 256, timeMs })
  return {
    async load() {
      const probe = await thread(script)
      probe.kill()
    },
    run: (script, run, signal) => pool.run(script, { ...run, timeMs }, signal),
    close: pool.close,
  }
}

const hashes = { md5, 'sha-1': sha1, 'sha-256': sha256, 'sha-512': sha512 }

/** In the caller's own thread, for at most 50 ms. `wasm` is for runtimes that cannot compile WebAssembly themselves. */
export function ownThreadRunner(wasm?: WebAssembly.Module): Runner {
  let sandbox: Promise<Sandbox> | undefined
  const make = async () => {
    const [quickjs, variant] = await Promise.all([
      import('quickjs-emscripten-core'),
      import('@jitl/quickjs-wasmfile-release-sync'),
    ]).catch((cause: unknown) => {
      throw new PosthornError('internal', `The function plugin needs: npm install ${core} ${engine}`, { cause })
    })
    const hmac = (hash: HashName, key: Uint8Array, data: Uint8Array) => hmacOf(hashes[hash], key, data)
    return makeSandbox(quickjs, variant.default, hmac, wasm)
  }
  return {
    async load() {
      await (sandbox ??= make())
    },
    run: async (_script, run) => (await (sandbox ??= make()))({ ...run, timeMs: 50 }),
    close() {},
  }
}
