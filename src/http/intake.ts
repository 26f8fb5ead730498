import type { Clock } from '../contracts/clock.ts'
import { PosthornError } from '../errors.ts'
import { startTimer } from '../runtime/timer.ts'
import { Gathered } from './read.ts'

/** What bounds a body while it comes in. */
export interface Intake {
  readonly maxBytes: number
  readonly clock: Clock
  /** The time for the first byte, and then the same time for all later bytes. */
  readonly timeoutMs: number
  /** Takes room for bytes that came. False: no room is left, and the rest of the body is not read. */
  take(bytes: number): boolean
}

type Step = ReadableStreamReadResult<Uint8Array> | 'too late'

/**
 * The bytes of a body that strangers send. It holds no more than came so far. When it answers a reason the rest was not
 * read: whoever answers the request lets the server drop it.
 */
export async function takeIn(
  request: Request,
  { maxBytes, clock, timeoutMs, take }: Intake,
): Promise<Uint8Array | 'too large' | 'too late' | 'no room'> {
  if (Number(request.headers.get('content-length')) > maxBytes) return 'too large'
  if (request.body === null) return new Uint8Array()
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const body = new Gathered()
  let late = false
  let wake = () => {}
  const ring = (): void => {
    late = true
    wake()
  }
  let cancel = startTimer(clock, timeoutMs, ring)
  try {
    for (;;) {
      const step = await new Promise<Step>((resolve, reject) => {
        wake = () => resolve('too late')
        reader.read().then(resolve, reject)
      }).catch((cause: unknown) => {
        throw new PosthornError('validation', 'the body could not be read', { cause })
      })
      if (step === 'too late' || late) return 'too late'
      if (step.done) return body.bytes()
      if (body.length === 0 && step.value.length > 0) {
        cancel()
        cancel = startTimer(clock, timeoutMs, ring)
      }
      if (body.length + step.value.length > maxBytes) return 'too large'
      if (step.value.length > 0 && !take(step.value.length)) return 'no room'
      body.add(step.value)
    }
  } finally {
    cancel()
  }
}
