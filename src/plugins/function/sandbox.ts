import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant, QuickJSWASMModule } from 'quickjs-emscripten-core'

import { type Deadline, makeDeadline } from './time-limit.ts'
import type { Ending, Run } from './ending.ts'
import { answerer, type Hmac, type Made, nothingMade } from './host.ts'
import { prelude } from './prelude.ts'
import { takeSnapshot } from './snapshot.ts'
import { described, endingOfThrown, ThrownInside } from './thrown.ts'

type QuickJS = typeof import('quickjs-emscripten-core')

export interface Sandbox {
  run(run: Run): Promise<Ending>
  /** Makes ready what the next run needs. It takes longer than an empty function. */
  prepare(): Promise<void>
}

const pageBytes = 65_536
const memoryBytes = 32 * 1024 * 1024
const stackBytes = 256 * 1024

export interface SandboxOptions {
  /** For runtimes that cannot compile WebAssembly themselves. */
  readonly wasmModule?: WebAssembly.Module | undefined
  /** Code that runs before the prelude. */
  readonly first?: string
}

/**
 * Runs functions in QuickJS, inside a WebAssembly memory of at most 32 MiB. Each run begins from the same memory, byte
 * by byte: the memory of a runtime that has run only the prelude. After a run that ends badly, the instance is thrown
 * away.
 */
export function makeSandbox(
  { newQuickJSWASMModuleFromVariant, newVariant }: QuickJS,
  variant: QuickJSSyncVariant,
  hmac: Hmac,
  { wasmModule, first = '' }: SandboxOptions = {},
): Sandbox {
  // Taken by a run, put back only by an end that leaves the instance in order.
  let idle: Inside | undefined
  let coming: Promise<Inside> | undefined

  async function make(): Promise<Inside> {
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: memoryBytes / pageBytes })
    const options = wasmModule === undefined ? { wasmMemory } : { wasmMemory, wasmModule }
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, options))
    return makeInside(quickjs, wasmMemory, hmac, first)
  }

  async function take(): Promise<Inside> {
    const taken = idle ?? coming ?? make()
    idle = undefined
    coming = undefined
    return await taken
  }

  return {
    async prepare() {
      if (idle === undefined) await (coming ??= make())
      else idle.reset()
    },
    async run(run) {
      const inside = await take()
      inside.reset()
      const { ending, clean } = runInside(inside, run)
      if (clean) idle = inside
      return ending
    },
  }
}

/** A runtime in which functions run one after the other. */
interface Inside {
  readonly context: QuickJSContext
  readonly clock: Deadline
  /** What the prelude answers: it is given the subject, and begins a run. */
  readonly begin: QuickJSHandle
  /** Makes everything as it was before the first run, unless nothing ran since. */
  reset(): void
  /** Begins the time of a run. Answers what the run will have made. */
  start(timeMs: number): Made
}

function makeInside(quickjs: QuickJSWASMModule, memory: WebAssembly.Memory, hmac: Hmac, first: string): Inside {
  const runtime = quickjs.newRuntime({ maxStackSizeBytes: stackBytes })
  const context = runtime.newContext()
  const clock = makeDeadline()
  let made = nothingMade()
  let used = false
  runtime.setInterruptHandler(() => clock.passed() || made.exit !== undefined)
  const host = context.newFunction(
    'host',
    answerer(context, hmac, () => made),
  )
  context.unwrapResult(context.evalCode(first, 'first.js', { type: 'global' })).dispose()
  const prepared = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }))
  const begin = context.unwrapResult(context.callFunction(prepared, context.undefined, host))
  const snapshot = takeSnapshot(memory)
  return {
    context,
    clock,
    begin,
    reset() {
      if (!used) return
      snapshot.restore()
      made = nothingMade()
      used = false
    },
    start(timeMs) {
      used = true
      clock.begin(timeMs)
      return made
    },
  }
}

function runInside(inside: Inside, run: Run): { ending: Ending; clean: boolean } {
  const made = inside.start(run.timeMs)
  let ending: Ending
  try {
    evaluate(inside, run)
    ending = made.exit ?? {
      kind: 'done',
      lines: made.lines,
      headers: Object.fromEntries(made.headers),
      ...(made.body === undefined ? {} : { body: made.body }),
    }
  } catch (thrown) {
    ending = made.exit ?? endingOfThrown(thrown, made.lines, inside.clock.late(), run.subject === null)
  }
  return { ending, clean: ending.kind !== 'exceeded' }
}

/** What the function makes stays inside: the next run begins from the memory as it was before this run. */
function evaluate({ context, begin }: Inside, { source, subject }: Run) {
  /** Answers the handle of a result, or throws what the code inside threw, as plain data. */
  const open = (result: { error?: QuickJSHandle | undefined; value?: QuickJSHandle }): QuickJSHandle => {
    if (result.error === undefined) return result.value!
    throw new ThrownInside(described(context, result.error))
  }
  if (subject === null) {
    open(context.evalCode(source, 'function.js', { type: 'global', compileOnly: true }))
    return
  }
  const seeds = [...crypto.getRandomValues(new Int32Array(4))]
  const [text, seedsText] = [subject, seeds].map((each) => context.newString(JSON.stringify(each)))
  const end = open(context.callFunction(begin, context.undefined, text!, seedsText!))
  open(context.evalCode(source, 'function.js', { type: 'global' }))
  const call = "if (typeof handle !== 'function') throw new TypeError('handle() is not defined'); handle()"
  const result = open(context.evalCode(call, 'call.js', { type: 'global' }))
  open(context.callFunction(end, context.undefined, result))
}
