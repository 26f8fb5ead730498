/**
 * Loads a thing at the first call. All later calls answer the same thing, at once when it is loaded. After a failed
 * load the next call loads again.
 */
export function lazy<Thing extends object>(load: () => Promise<Thing>): () => Thing | Promise<Thing> {
  let loaded: Thing | Promise<Thing> | undefined
  return () =>
    (loaded ??= load().then(
      (thing) => (loaded = thing),
      (cause: unknown) => {
        loaded = undefined
        throw cause
      },
    ))
}
