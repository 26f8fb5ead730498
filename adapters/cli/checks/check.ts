import type { Posthorn } from 'posthorn'
import type { Storage } from 'posthorn/contracts'

import type { Engine } from '../engine.ts'
import type { ReadSettings } from '../read-settings.ts'

/** What one check found. */
export interface Finding {
  readonly check: string
  readonly level: 'ok' | 'problem'
  /** A sentence that states the fact. */
  readonly message: string
  /** What to do about it; of a problem only. */
  readonly advice?: string
}

/** What checks look at. */
export interface Subject extends ReadSettings {
  readonly engine: Engine
  readonly storage: Storage
  /** An instance over the engine that is not started. */
  readonly posthorn: Posthorn
  /** The time of this machine, unix milliseconds. */
  readonly now: () => number
}

/** Checks one subject. It throws only errors that say that the engine does not answer. */
export type Check = (subject: Subject) => Promise<readonly Finding[]>

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message })
export const problem = (check: string, message: string, advice: string): Finding => ({
  check,
  level: 'problem',
  message,
  advice,
})
