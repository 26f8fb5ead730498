import { recordText } from '../../src/core/capture.ts'

/** An error of ours whose message is already the sentence to show. `EDENIED` is a refusal by the deny list. */
export class Failure extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'Failure'
    this.code = code
  }
}

/** For a status line and headers beyond the bound. */
export const headTooLong = 'the status line and headers of the answer are longer than 16 KiB'
/** For what frames the body of an answer: chunk extensions, the trailer. */
export const framingTooLong = 'the chunk extensions or the trailer of the answer are longer than 16 KiB'

const sentences: Readonly<Record<string, string>> = {
  ECONNRESET: 'connection closed before an answer came',
  EPIPE: 'connection closed before the request was sent',
  ERR_UNESCAPED_CHARACTERS: 'the url holds characters that cannot be sent',
  ERR_INVALID_HTTP_TOKEN: 'a header holds characters that cannot be sent',
  ERR_INVALID_CHAR: 'a header holds characters that cannot be sent',
  UND_ERR_INVALID_ARG: 'a header holds characters that cannot be sent',
  UND_ERR_SOCKET: 'connection closed before an answer came',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not HTTP (its length is not the one it announced)',
}

/** A sentence for a person, at most 512 code points, without secrets. */
export function failureMessage(cause: unknown): string {
  if (cause instanceof Failure) return bounded(cause.message)
  if (!(cause instanceof Error)) return 'the request failed'
  // Several addresses were tried: the first failure stands for all.
  if (cause instanceof AggregateError && cause.errors.length > 0) return failureMessage(cause.errors[0])
  const code = failureCode(cause)
  // That of undici, whose message ends with the parser's reason in parentheses.
  if (cause.name === 'HTTPParserError') return notHttp(/\((.+)\)$/.exec(cause.message)?.[1])
  if (code === undefined) return bounded(cause.message)
  const sentence = sentences[code]
  if (sentence !== undefined) return sentence
  if (code.startsWith('HPE_')) {
    return notHttp('reason' in cause && typeof cause.reason === 'string' ? cause.reason : code)
  }
  // OpenSSL writes error numbers and names of source files around the message.
  const [, said] = /:SSL routines:[^:]*:([^:]+):/.exec(cause.message) ?? []
  if (said !== undefined) return bounded(`TLS: ${said}`)
  return bounded(cause.message === '' ? code : cause.message)
}

export function failureCode(cause: unknown): string | undefined {
  if (cause instanceof AggregateError && cause.errors.length > 0) return failureCode(cause.errors[0])
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : undefined
}

function notHttp(reason = 'its parser gave up'): string {
  return bounded(`the answer is not HTTP (${reason})`)
}

function bounded(message: string): string {
  return recordText(message.replaceAll(/\s+/g, ' '), 512)
}
