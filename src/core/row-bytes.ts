import type { Configuration, Stored } from '../contracts/storage/configuration.ts'
import { bytesOf } from './encoding.ts'
import type { Kind, Rows } from './row-plan.ts'

/** A row that was measured. */
export interface Measured<Row> extends Stored<Row> {
  /** How long the JSON of the row is, in bytes of UTF-8. */
  readonly bytes: number
}

export type MeasuredConfiguration = Omit<Configuration, Kind> & {
  readonly [K in Kind]: readonly Measured<Rows[K]>[]
}

/** How long the JSON of a row is, in bytes of UTF-8. */
export function rowBytes(row: object): number {
  return bytesOf(JSON.stringify(row)).length
}
