import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core'

import type { Ending, Line, Run } from './ending.ts'
import { answerer, type Hmac, type Made, plainText } from './host.ts'
import { prelude } from './prelude.ts'

type QuickJS = typeof import('quickjs-emscripten-core')

export interface Sandbox {
  run(run: Run): Promise<Ending>
  /** Makes ready what the next run needs. It takes longer than an empty function. */
  prepare(): Promise<void>
}

const pageBytes = 65_536
const memoryBytes = 32 * 1024 * 1024
const stackBytes = 256 * 1024
/** What is taken for a millisecond where the clock stands still while code runs, as on some edge platforms. */
const pollsPerMs = 10
/** What it may do however late it is: on a busy machine the time of a short run is mostly that of others. */
const freePolls = 4

/**
 * Runs functions in QuickJS, each in a runtime of its own that ends with the call, inside a WebAssembly memory of at most
 * 32 MiB. Whatever ends badly takes its instance with it.
 */
export function makeSandbox(
  { newQuickJSWASMModuleFromVariant, newVariant }: QuickJS,
  variant: QuickJSSyncVariant,
  hmac: Hmac,
  wasmModule?: WebAssembly.Module,
): Sandbox {
  const freshInstance = () => {
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: memoryBytes / pageBytes })
    const options = wasmModule === undefined ? { wasmMemory } : { wasmMemory, wasmModule }
    return newQuickJSWASMModuleFromVariant(newVariant(variant, options))
  }

  // Taken by a run, put back only by an end that leaves nothing behind.
  let instance: QuickJSWASMModule | undefined
  let ready: Promise<Inside> | undefined

  async function make(): Promise<Inside> {
    const taken = instance
    instance = undefined
    return makeInside(taken ?? (await freshInstance()), hmac)
  }

  return {
    async prepare() {
      await (ready ??= make())
    },
    async run(run) {
      const taken = ready ?? make()
      ready = undefined
      const inside = await taken
      const { ending, clean } = runInside(inside, run)
      if (clean) instance = inside.quickjs
      return ending
    },
  }
}

/** A runtime before its run. */
interface Inside {
  readonly quickjs: QuickJSWASMModule
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  readonly clock: Deadline
  readonly made: Made
  readonly held: QuickJSHandle[]
  /** The prelude, which is given the host and the subject. */
  readonly prelude: QuickJSHandle
  readonly host: QuickJSHandle
}

function makeInside(quickjs: QuickJSWASMModule, hmac: Hmac): Inside {
  const runtime = quickjs.newRuntime({ maxStackSizeBytes: stackBytes })
  const context = runtime.newContext()
  const made: Made = { lines: [], headers: new Map() }
  const clock = deadline()
  runtime.setInterruptHandler(() => clock.passed() || made.exit !== undefined)
  const host = context.newFunction('host', answerer(context, hmac, made))
  const prepared = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }))
  return { quickjs, runtime, context, clock, made, held: [host, prepared], prelude: prepared, host }
}

function runInside(inside: Inside, run: Run): { ending: Ending; clean: boolean } {
  const { runtime, context, clock, made, held } = inside
  let ending: Ending
  clock.begin(run.timeMs)
  try {
    evaluate(inside, run)
    ending = made.exit ?? {
      kind: 'done',
      lines: made.lines,
      headers: Object.fromEntries(made.headers),
      ...(made.body === undefined ? {} : { body: made.body }),
    }
  } catch (thrown) {
    ending = made.exit ?? endingOfThrown(thrown, made.lines, clock.late(), run.subject === null)
  }
  if (ending.kind === 'exceeded') return { ending, clean: false }
  try {
    for (const handle of held) handle.dispose()
    context.dispose()
    runtime.dispose()
    return { ending, clean: true }
  } catch {
    // What cannot be taken apart is left to the garbage collector, and the next run gets an instance of its own.
    return { ending, clean: false }
  }
}

function evaluate({ context, held, host, prelude }: Inside, { source, subject }: Run) {
  const hold = (handle: QuickJSHandle) => {
    held.push(handle)
    return handle
  }
  /** Answers the handle of a result, or throws what the code inside threw, as plain data. */
  const open = (result: { error?: QuickJSHandle | undefined; value?: QuickJSHandle }): QuickJSHandle => {
    if (result.error === undefined) return hold(result.value!)
    throw new ThrownInside(described(context, hold(result.error)))
  }
  if (subject === null) {
    open(context.evalCode(source, 'function.js', { type: 'global', compileOnly: true }))
    return
  }
  const text = hold(context.newString(JSON.stringify(subject)))
  const finish = open(context.callFunction(prelude, context.undefined, host, text))
  open(context.evalCode(source, 'function.js', { type: 'global' }))
  const call = "if (typeof handle !== 'function') throw new TypeError('handle() is not defined'); handle()"
  const result = open(context.evalCode(call, 'call.js', { type: 'global' }))
  open(context.callFunction(finish, context.undefined, result))
}

interface Deadline {
  begin(timeMs: number): void
  passed(): boolean
  late(): boolean
}

function deadline(): Deadline {
  let started = 0
  let mostMs = Infinity
  let polls = 0
  let late = false
  return {
    begin(timeMs) {
      started = performance.now()
      mostMs = timeMs
    },
    late: () => late,
    passed() {
      if (mostMs === Infinity) return false
      polls++
      const tookMs = performance.now() - started
      late ||= polls > freePolls && (tookMs === 0 ? polls / pollsPerMs : tookMs) > mostMs
      return late
    },
  }
}

/** What the code inside threw, as texts. */
class ThrownInside extends Error {
  readonly described: Described

  constructor(thrown: Described) {
    super('thrown inside')
    this.described = thrown
  }
}

interface Described {
  readonly message: string
  readonly text: string
}

const mostOfError = 4000

/** Reads the properties of an error one by one, none longer than needed: the whole might fill the memory out here. */
function described(context: QuickJSContext, thrown: QuickJSHandle): Described {
  const type = context.typeof(thrown)
  // With no memory left for an error, the engine throws null.
  if (type === 'object' && context.sameValue(thrown, context.null)) return { message: 'out of memory', text: '' }
  if (type !== 'object' && type !== 'function') {
    const value =
      type === 'string' ? JSON.stringify(textOf(context, thrown)) : type === 'undefined' ? type : `a ${type}`
    return { message: '', text: type === 'string' ? (textOf(context, thrown) ?? '') : `${value} was thrown` }
  }
  const [name, message, stack] = ['name', 'message', 'stack'].map((key) => {
    try {
      return context.getProp(thrown, key).consume((value) => textOf(context, value))
    } catch {
      return null // a getter of the function that throws
    }
  })
  const place = /function\.js:(\d+):(\d+)/.exec(stack ?? '')
  const what = `${name == null ? '' : `${name}: `}${message ?? 'undefined was thrown'}`
  return {
    message: message ?? '',
    text: what.slice(0, 400) + (place === null ? '' : ` (line ${place[1]}, column ${place[2]})`),
  }
}

/** The text of a string, or null. */
function textOf(context: QuickJSContext, handle: QuickJSHandle): string | null {
  if (context.typeof(handle) !== 'string') return null
  try {
    return plainText(context, handle, mostOfError)
  } catch {
    return 'a long text'
  }
}

function endingOfThrown(thrown: unknown, lines: readonly Line[], late: boolean, isCheck: boolean): Ending {
  if (late) return { kind: 'exceeded', lines, limit: 'time' }
  if (thrown instanceof ThrownInside) {
    const { message, text } = thrown.described
    if (message === 'out of memory') return { kind: 'exceeded', lines, limit: 'memory' }
    if (message === 'stack overflow') return { kind: 'exceeded', lines, limit: 'stack' }
    return isCheck ? { kind: 'syntax', message: text } : { kind: 'thrown', lines, message: text }
  }
  // The engine itself gave up: its parser has no stack check, and its allocations from outside have no error to throw.
  return { kind: 'exceeded', lines, limit: thrown instanceof RangeError ? 'stack' : 'memory' }
}
