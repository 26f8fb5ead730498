/** Lets the process end before a timer, where timers are objects that can. */
export function letExit(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** A wait that keeps no process alive. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => letExit(setTimeout(resolve, ms)))
}
