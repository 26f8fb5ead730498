/** A claim that loads answers about so many bytes of data of events at most; the caller loads the rest. So it stays quick. */
export const maxLoadedBytes = 16_000_000
