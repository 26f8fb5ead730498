import { UsageError } from './failure.ts'

/** A request as it was recorded: header lines, an empty line, the body. */
export interface RecordedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Reads a recorded request. The first line may be that of HTTP: `POST /hooks HTTP/1.1`. @throws UsageError */
export function recordedRequest(bytes: Uint8Array): RecordedRequest {
  const text = new TextDecoder('latin1').decode(bytes) // a character for each byte, so that places agree
  const end = /\r?\n\r?\n/.exec(text)
  const head = text.slice(0, end?.index ?? text.length)
  const lines = head.split(/\r?\n/)
  if (/^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(lines[0] ?? '')) lines.shift()
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined) {
      throw new UsageError(
        `standard input must be a request: header lines, an empty line, the body; this is no header: ${JSON.stringify(line.slice(0, 40))}`,
      )
    }
    headers[name.toLowerCase()] = value!
  }
  return { headers, body: end === null ? new Uint8Array() : bytes.subarray(end.index + end[0].length) }
}
