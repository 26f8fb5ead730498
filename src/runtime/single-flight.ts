export interface SingleFlight<Answer> {
  /**
   * Asks, or shares the answer to the next question when a question is under way: so no caller gets an answer from
   * before its call.
   */
  ask(key: string): Promise<Answer>
  /** The answer under way, which may be older. */
  running(key: string): Promise<Answer> | undefined
}

/** Lets many who ask the same at once cost two questions. */
export function singleFlight<Answer>(put: (key: string) => Promise<Answer>): SingleFlight<Answer> {
  const asked = new Map<string, { readonly running: Promise<Answer>; next?: Promise<Answer> }>()

  function ask(key: string): Promise<Answer> {
    const current = asked.get(key)
    if (current !== undefined) {
      current.next ??= current.running.then(
        () => ask(key),
        () => ask(key),
      )
      return current.next
    }
    const running = put(key).finally(() => asked.delete(key))
    asked.set(key, { running })
    return running
  }

  return { ask, running: (key) => asked.get(key)?.running }
}
