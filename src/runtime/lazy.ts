/** Loads a thing at the first call and answers the same thing ever after, at once when it is loaded. A load that failed is tried anew. */
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
