/** The least time between two announcements of one process, milliseconds. */
const everyMs = 50

/**
 * Tells other processes that something was added: at once, and at most once in 50 ms, the last one never left out.
 * It is a hint, so nobody waits for it and its failure is nobody's.
 */
export function announcer(publish: () => Promise<unknown>): () => void {
  let resting = false
  let again = false
  const announce = (): void => {
    if (resting) {
      again = true
      return
    }
    resting = true
    publish().catch(() => {})
    setTimeout(() => {
      resting = false
      if (!again) return
      again = false
      announce()
    }, everyMs)
  }
  return announce
}
