import type { Ask } from './requests.ts'

/** One thing that two servers answered differently. */
export interface Difference {
  readonly ask: string
  /** `status`, with whole answers, `header <name>`, or the place in the body: `body.data.0.name`. */
  readonly part: string
  readonly theirs: unknown
  readonly ours: unknown
}

/** An answer without what differs from run to run. */
export interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What the HTTP server of Node, or that of Go, adds by itself. */
const framing = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'])
const timeNames = /^(created|updated|ingested|scheduled|attempted)_at$|^latency$/

/** A generated id: a KSUID of theirs, or one of ours. Ids of the tests have a dash. */
const generatedId = /\b(?=[0-9A-Za-z]*\d)[0-9A-Za-z]{26,32}\b/g

/** A value in which times, generated ids, secrets and paths are told as what they are. */
export function settled(value: unknown, receiver: string, name = ''): unknown {
  if (typeof value === 'number') return timeNames.test(name) ? '<time>' : value
  if (typeof value === 'string') {
    if (name === 'signing_secret' && value.length === 32) return '<secret>'
    if (/^webhookx-(signature|timestamp)$/i.test(name)) return `<${name.toLowerCase()}>`
    return value
      .replaceAll(receiver, 'http://receiver.test')
      .replaceAll(/\/[0-9a-f]{32}\b/g, '/<path>')
      .replaceAll(generatedId, '<id>')
  }
  if (Array.isArray(value)) return value.map((item) => settled(item, receiver, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, settled(item, receiver, key)]))
}

/** Pages of rows that are made at the same moment: WebhookX orders these by chance. */
function inOneOrder(ask: Ask, body: unknown): unknown {
  const page = body as { data?: unknown } | null
  if (!/^\/(events|attempts)(\?|$)/.test(ask.path) || !Array.isArray(page?.data)) return body
  if (/[?&](limit|page_size)=1(&|$)/.test(ask.path)) return { ...page, data: page.data.length }
  return {
    ...page,
    data: page.data
      .map((row) => JSON.stringify(row))
      .toSorted()
      .map((row) => JSON.parse(row)),
  }
}

export function seenOf(
  ask: Ask,
  response: { status: number; headers: Headers },
  body: unknown,
  receiver: string,
): Seen {
  const headers = [...response.headers].filter(([name]) => !framing.has(name))
  return {
    status: response.status,
    headers: settled(Object.fromEntries(headers), receiver) as Record<string, string>, // texts stay texts
    body: inOneOrder(ask, settled(body, receiver)),
  }
}

export function differences(ask: string, theirs: Seen, ours: Seen): Difference[] {
  const found: Difference[] = []
  const told = (part: string, a: unknown, b: unknown) => void found.push({ ask, part, theirs: a, ours: b })
  if (theirs.status !== ours.status) {
    // The one is refused, the other is not: nothing else can be alike.
    told('status', theirs, ours)
    return found
  }
  for (const name of new Set([...Object.keys(theirs.headers), ...Object.keys(ours.headers)])) {
    if (theirs.headers[name] !== ours.headers[name]) told(`header ${name}`, theirs.headers[name], ours.headers[name])
  }
  compare('body', theirs.body, ours.body, told)
  return found
}

type Told = (part: string, theirs: unknown, ours: unknown) => void

function compare(part: string, a: unknown, b: unknown, told: Told): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return told(`${part}.length`, a.length, b.length)
    return a.forEach((item, i) => compare(`${part}.${i}`, item, b[i], told))
  }
  if (!isObject(a) || !isObject(b)) {
    if (!Object.is(a, b)) told(part, a, b)
    return
  }
  const [names, others] = [Object.keys(a), Object.keys(b)]
  const shared = (list: readonly string[]) => list.filter((name) => Object.hasOwn(a, name) && Object.hasOwn(b, name))
  if (shared(names).join('\n') !== shared(others).join('\n')) told(`${part} order`, names, others)
  for (const name of new Set([...names, ...others])) compare(`${part}.${name}`, a[name], b[name], told)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
