import { letExit } from './timers.ts'

/** A statement that gets no answer for so long makes the idle connections doubtful too. */
const doubtfulMs = 2_000
/** What an idle connection has to answer within then. */
const proofMs = 2_000

/** Is called when a statement was sent. Answers what is to be called when it was answered, or given up. */
export type StatementWatch = () => () => void

/**
 * Where a firewall forgot the connections of a pool, each idle connection would cost its next statement the whole wait
 * for an answer. So while a statement waits for long, all idle connections are asked at once. `ask` closes connections
 * that are silent.
 */
export function watchIdleConnections(ask: (withinMs: number) => Promise<unknown>): StatementWatch {
  let isAsking = false
  const doubt = (): void => {
    if (isAsking) return
    isAsking = true
    ask(proofMs)
      .catch(() => {}) // no connection was to be had: then none was idle
      .finally(() => (isAsking = false))
  }
  return () => {
    const timer = setTimeout(doubt, doubtfulMs)
    letExit(timer)
    return () => clearTimeout(timer)
  }
}
