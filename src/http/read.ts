import { parseJson } from '../core/json-slice.ts'
import { PosthornError } from '../errors.ts'

/** The bytes of a request's body. Reading stops at the first byte beyond `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | 'too large'> {
  if (Number(request.headers.get('content-length')) > maxBytes) return 'too large'
  if (request.body === null) return new Uint8Array()
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new PosthornError('validation', 'the body could not be read', { cause })
    })
    if (done) break
    length += value.length
    if (length > maxBytes) {
      void reader.cancel().catch(() => {}) // the rest is of no interest, nor is how its sender takes it
      return 'too large'
    }
    chunks.push(value)
  }
  return joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** The text of a body. @throws PosthornError `too_large`, or `validation` when it is not UTF-8. */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBody(request, maxBytes)
  if (bytes === 'too large') throw new PosthornError('too_large', 'request entity too large')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new PosthornError('validation', 'the body is not UTF-8', { cause })
  }
}

/** The parsed body and its very text. Where a body is optional, an empty one counts as `{}`. */
export async function readJson(
  request: Request,
  maxBytes: number,
  { optional = false } = {},
): Promise<{ readonly text: string; readonly value: unknown }> {
  const text = await readText(request, maxBytes)
  if (optional && text.trim() === '') return { text: '{}', value: {} }
  return { text, value: parseJson(text) }
}
