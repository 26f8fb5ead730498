/** The time of this machine, unix milliseconds: for log lines, and to compare it with the time of an engine. */
export const now = (): number => Date.now()
