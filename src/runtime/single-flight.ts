/** A question under way. */
export interface Flight {
  /** Whether the answer is that of before something that happened meanwhile. */
  readonly isOvertaken: boolean
}

export interface SingleFlight<Answer> {
  /**
   * Asks, or shares the answer to the next question when a question is under way: so no caller gets an answer from
   * before its call.
   */
  ask(key: string): Promise<Answer>
  /** The answer under way, which may be older; undefined where it was overtaken. */
  running(key: string): Promise<Answer> | undefined
  /** Says that something happened which the question under way may not have seen; without a key, of all questions. */
  overtake(key?: string): void
}

/** Lets many who ask the same at once cost two questions. */
export function singleFlight<Answer>(put: (key: string, flight: Flight) => Promise<Answer>): SingleFlight<Answer> {
  const asked = new Map<
    string,
    { readonly running: Promise<Answer>; readonly flight: { isOvertaken: boolean }; next?: Promise<Answer> }
  >()

  function ask(key: string): Promise<Answer> {
    const current = asked.get(key)
    if (current !== undefined) {
      current.next ??= current.running.then(
        () => ask(key),
        () => ask(key),
      )
      return current.next
    }
    const flight = { isOvertaken: false }
    const running = put(key, flight).finally(() => asked.delete(key))
    asked.set(key, { running, flight })
    return running
  }

  return {
    ask,
    running(key) {
      const current = asked.get(key)
      return current?.flight.isOvertaken === false ? current.running : undefined
    },
    overtake(key) {
      const questions = key === undefined ? [...asked.values()] : [asked.get(key)]
      for (const question of questions) if (question !== undefined) question.flight.isOvertaken = true
    },
  }
}
