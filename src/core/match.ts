/**
 * Whether an entry of `endpoint.events` wants an event type: the same text, `*` for all, or a dotted pattern in which
 * `*` is one non-empty segment and a final `**` is one or more. Any other asterisk is literal.
 */
export function matches(pattern: string, eventType: string): boolean {
  if (pattern === eventType || pattern === '*') return true
  if (!pattern.includes('*')) return false
  const wanted = pattern.split('.')
  const given = eventType.split('.')
  const open = wanted.at(-1) === '**'
  if (open) wanted.pop()
  if (open ? given.length <= wanted.length : given.length !== wanted.length) return false
  if (open && given.at(-1) === '' && given.length === wanted.length + 1) return false
  return wanted.every((segment, i) => segment === given[i] || (segment === '*' && given[i] !== ''))
}

/** A matcher over many subscribers that looks exact names up and tries patterns one by one. Keeps their order. */
export function matcher<Subscriber extends { readonly events: readonly string[] }>(
  subscribers: readonly Subscriber[],
): (eventType: string) => readonly Subscriber[] {
  const exact = new Map<string, Set<number>>()
  const patterns: { pattern: string; place: number }[] = []
  subscribers.forEach(({ events }, place) => {
    for (const entry of events) {
      const places = exact.get(entry)
      if (places) places.add(place)
      else exact.set(entry, new Set([place]))
      if (entry.includes('*')) patterns.push({ pattern: entry, place })
    }
  })
  return (eventType) => {
    const places = new Set(exact.get(eventType))
    for (const { pattern, place } of patterns) {
      if (!places.has(place) && matches(pattern, eventType)) places.add(place)
    }
    return [...places].toSorted((a, b) => a - b).map((place) => subscribers[place]!)
  }
}
