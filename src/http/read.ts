import { parseJson } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'
import type { Call } from './route.ts'

/** The bytes of a request's body. Reading stops at the first byte beyond `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | 'too large'> {
  if (Number(request.headers.get('content-length')) > maxBytes) return 'too large'
  if (request.body === null) return new Uint8Array()
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const body = new Gathered()
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new PosthornError('validation', 'the body could not be read', { cause })
    })
    if (done) break
    if (body.length + value.length > maxBytes) {
      void reader.cancel().catch(() => {}) // nobody needs the rest, or the sender's failure
      return 'too large'
    }
    body.add(value)
  }
  return body.bytes()
}

/** Bytes that come in parts. They take at most twice their own room, however small the parts are. */
export class Gathered {
  length = 0
  #bytes: Uint8Array = new Uint8Array()

  add(part: Uint8Array): void {
    const length = this.length + part.length
    if (this.length === 0) {
      // A body that comes in one part is not copied, unless it would keep a larger piece of memory.
      this.#bytes = part.length * 2 < part.buffer.byteLength ? part.slice() : part
    } else {
      if (length > this.#bytes.length) {
        const larger = new Uint8Array(length * 2)
        larger.set(this.#bytes.subarray(0, this.length))
        this.#bytes = larger
      }
      this.#bytes.set(part, this.length)
    }
    this.length = length
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }
}

/** The text of a body. @throws PosthornError `too_large`, or `validation` when it is compressed or not UTF-8. */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== '') {
    throw new PosthornError('validation', `the body is compressed (content-encoding ${encoding}): send it as it is`)
  }
  const bytes = await readBody(request, maxBytes)
  if (bytes === 'too large') throw new PosthornError('too_large', 'request entity too large')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new PosthornError('validation', 'the body is not UTF-8', { cause })
  }
}

/** A request whose body is read, and who sent it. */
export type Sent = Pick<Call, 'request' | 'maxBodyBytes' | 'parsing' | 'workspace'>

/** The parsed body and the very text of it. Where a body is optional, an empty body counts as `{}`. */
export async function readJson(
  { request, maxBodyBytes, parsing, workspace }: Sent,
  { optional = false } = {},
): Promise<{ readonly text: string; readonly value: unknown }> {
  const text = await readText(request, maxBodyBytes)
  if (optional && text.trim() === '') return { text: '{}', value: {} }
  return { text, value: await parsing.run(workspace, text.length, () => parseJson(text)) }
}
