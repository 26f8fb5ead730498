const asterisk = 42
const dot = 46

/**
 * Whether an entry of `endpoint.events` wants an event type: the same text, `*` for all, or a dotted pattern in which
 * `*` is one non-empty segment and a final `**` is one or more. Any other asterisk is literal.
 */
export function matches(pattern: string, eventType: string): boolean {
  if (pattern === eventType || pattern === '*') return true
  if (!pattern.includes('*')) return false
  if (pattern === '**') return eventType !== ''
  const isOpen = pattern.endsWith('.**')
  const end = isOpen ? pattern.length - 3 : pattern.length
  // A workspace may have 100,000 patterns: the text before the first asterisk is compared at once, and nothing is cut up.
  let at = Math.min(pattern.indexOf('*'), end)
  if (!eventType.startsWith(pattern.slice(0, at))) return false
  for (let i = at; i < end; i++) {
    const code = pattern.charCodeAt(i)
    if (code === asterisk && isSegment(pattern, i, end)) {
      const from = at
      while (at < eventType.length && eventType.charCodeAt(at) !== dot) at++
      if (at === from) return false
    } else if (eventType.charCodeAt(at++) !== code) return false
  }
  return isOpen ? eventType[at] === '.' && at + 1 < eventType.length : at === eventType.length
}

/** Whether the asterisk at `i` is a whole segment. */
function isSegment(pattern: string, i: number, end: number): boolean {
  return (i === 0 || pattern.charCodeAt(i - 1) === dot) && (i + 1 === end || pattern.charCodeAt(i + 1) === dot)
}

/** What a subscriber wants. It is read once and serves while the subscriber's entries stay the same. */
export interface Interests {
  /** Each once. */
  readonly exact: readonly string[]
  /** Patterns by their first segment; `*` where an asterisk is in it. */
  readonly patterns: ReadonlyMap<string, readonly string[]>
}

/** Reads the entries of `endpoint.events`. */
export function interestsOf(entries: readonly string[]): Interests {
  const exact = new Set<string>()
  const patterns = new Map<string, string[]>()
  for (const entry of entries) {
    if (entry.includes('*')) addTo(patterns, headOf(entry), entry)
    else exact.add(entry)
  }
  return { exact: [...exact], patterns }
}

/** Patterns of a subscriber that begin with the same segment. */
interface Patterns {
  readonly texts: readonly string[]
  /** Of the subscriber. */
  readonly place: number
}

/** Many subscribers, added one after another. */
export interface Matcher<Subscriber> {
  add(subscriber: Subscriber, interests: Interests): void
  /** Those that want an event type, in the order in which they were added. */
  match(eventType: string): readonly Subscriber[]
}

/** It looks exact names up, and tries those patterns that begin with the first segment of the event type, or with an asterisk. */
export function matcher<Subscriber>(): Matcher<Subscriber> {
  const subscribers: Subscriber[] = []
  const exact = new Map<string, number[]>()
  const patterns = new Map<string, Patterns[]>()
  return {
    add(subscriber, interests) {
      const place = subscribers.push(subscriber) - 1
      for (const name of interests.exact) addTo(exact, name, place)
      for (const [head, texts] of interests.patterns) addTo(patterns, head, { texts, place })
    },
    match(eventType) {
      const lists = [exact.get(eventType) ?? none]
      if (patterns.size > 0) {
        for (const head of [firstSegment(eventType), '*']) lists.push(wanting(patterns.get(head), eventType))
      }
      const some = lists.filter((places) => places.length > 0)
      // A list alone is in order. In several the same subscriber may stand twice.
      const places = some.length === 1 ? some[0]! : [...new Set(some.flat())].toSorted((a, b) => a - b)
      return places.map((place) => subscribers[place]!)
    },
  }
}

const none: readonly number[] = []

/** The places of the subscribers that want an event type by a pattern. */
function wanting(patterns: readonly Patterns[] | undefined, eventType: string): readonly number[] {
  if (patterns === undefined) return none
  const places: number[] = []
  for (const { texts, place } of patterns) if (texts.some((text) => matches(text, eventType))) places.push(place)
  return places
}

/** The first segment of a pattern; `*` where an asterisk is in it. */
function headOf(pattern: string): string {
  const head = firstSegment(pattern)
  return head.includes('*') ? '*' : head
}

function firstSegment(text: string): string {
  const end = text.indexOf('.')
  return end === -1 ? text : text.slice(0, end)
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
