import type { Platform, ThreadScript } from '../../contracts/platform.ts'
import type { Awaitable } from '../../contracts/awaitable.ts'
import { PosthornError } from '../../errors.ts'
import { lazy } from '../../runtime/lazy.ts'
import { type Call, type Job, makePool, type Outcome, type Tenant } from '../pool/pool.ts'
import type { Judge, Schemas } from './judge.ts'
import type { Question } from './program.ts'
import program from './program.ts?text'
import { reasonAt, type Version } from './schema.ts'

/** Whose work it is. Work beyond the limits is remembered by the identity of `script`. */
export interface Runs {
  readonly script: object
  readonly tenant: Tenant
  readonly signal?: AbortSignal
}

/** The schemas of one plugin, with a number that names them. */
export interface Numbered {
  readonly number: number
  readonly schemas: Schemas
}

export interface Reading {
  /** Why the schema is refused, or null. */
  readonly problem: string | null
  /** Without the wait for a process. */
  readonly tookMs: number
}

/** Reads schemas and events, in processes or in the request's own thread. */
export interface Runner {
  /** @throws PosthornError `internal` that tells what to install */
  load(): Promise<void>
  /** Reads a schema within `timeMs`. */
  problemOf(whose: Runs, schema: string, version: Version, timeMs: number): Promise<Reading | 'busy'>
  /** Why an event does not conform; nothing when it does. */
  reasons(whose: Runs, body: string, plugin: Numbered, wantsReasons: boolean): Promise<readonly string[] | 'busy'>
  /** Ends the processes; a later call starts new processes. */
  close(): void
}

const heapBytes = 96 * 1024 * 1024 // 64 MiB for one document, the rest for held schemas
const script: ThreadScript = { text: program, modules: ['re2js'], heapBytes }
const tooMuch = reasonAt([], 'the schema asks for too much work on this document')

/** A body of more characters is checked alone. */
const maxTogether = 16 * 1024

/** In processes, killed after `timeMs`, 1000 by default. */
export function processRunner(thread: NonNullable<Platform['thread']>, timeMs = 1000): Runner {
  const pool = makePool((yields) => thread({ ...script, yields }), { size: 2, places: 258, timeMs })

  return {
    async load() {
      const probe = await thread(script)
      probe.kill()
    },
    async problemOf(whose, schema, version, maxMs) {
      const question: Question = { kind: 'problem', schema, version }
      const work = (call: Call) => timed(async () => problemIn(await call(question)))
      const outcome = await pool.run<Reading>({ ...whose, timeMs: maxMs, work })
      if (outcome.kind === 'answer') return outcome.answer
      if (outcome.kind === 'busy') return 'busy'
      const what = outcome.kind === 'time' ? 'time' : 'memory'
      return { problem: reasonAt([], `the schema cannot be used: it takes too much ${what}`), tookMs: maxMs }
    },
    async reasons(whose, body, { number, schemas }, wantsReasons) {
      const reasons = async (call: Call, bodies: readonly string[]) => {
        const question: Question = { kind: 'reasons', bodies, number, schemas: null, wantsReasons }
        // A process that does not know the schemas is given them.
        return reasonsIn((await call(question)) ?? (await call({ ...question, schemas })), bodies.length)
      }
      const job: Job<readonly string[], string> = {
        ...whose,
        work: async (call) => (await reasons(call, [body]))[0]!, // one answer for each body
        together: body.length > maxTogether ? undefined : { part: body, work: reasons },
      }
      const outcome: Outcome<readonly string[]> = await pool.run(job)
      if (outcome.kind === 'answer') return outcome.answer
      return outcome.kind === 'busy' ? 'busy' : [tooMuch]
    },
    close: pool.close,
  }
}

async function timed(read: () => Awaitable<string | null>): Promise<Reading> {
  const from = performance.now()
  return { problem: await read(), tookMs: performance.now() - from }
}

function problemIn(answer: unknown): string | null {
  if (answer !== null && typeof answer !== 'string') throw new TypeError('no problem was told')
  return answer
}

function reasonsIn(answer: unknown, due: number): readonly (readonly string[])[] {
  if (!Array.isArray(answer) || answer.length !== due || !answer.every(isReasons)) {
    throw new TypeError('no reasons were told')
  }
  return answer
}

function isReasons(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((reason) => typeof reason === 'string')
}

/** In the caller's own thread, by a budget of steps alone. */
export function ownThreadRunner(): Runner {
  const judge = lazy(async (): Promise<Judge> => {
    const [{ RE2JS }, { makeJudge }, { patternCompiler }] = await Promise.all([
      import('re2js'),
      import('./judge.ts'),
      import('./pattern.ts'),
    ]).catch((cause: unknown) => {
      throw new PosthornError('internal', 'The event-validation plugin needs: npm install re2js', { cause })
    })
    return makeJudge(patternCompiler(RE2JS))
  })
  return {
    async load() {
      await judge()
    },
    async problemOf(_whose, schema, version) {
      const { problemOf } = await judge()
      return await timed(() => problemOf(schema, version))
    },
    async reasons(_whose, body, { number, schemas }, wantsReasons) {
      return (await judge()).reasons(body, number, schemas, wantsReasons) ?? []
    },
    close() {},
  }
}
