/** Lets the process end while the timer runs, where the runtime can. */
export function letExit(timer: unknown): void {
  ;(timer as { unref?(): void }).unref?.() // a number in browsers and on the edge
}
