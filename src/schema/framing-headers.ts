/** Headers that frame or route a message, which only the HTTP client may set (RFC 9110 section 7.6.1, RFC 9112). */
const framing: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
])

/** Whether only the HTTP client may set a header. The name is in lower case. */
export function isFramingHeader(name: string): boolean {
  return framing.has(name) || name.startsWith('proxy-')
}
