import { bytesOf } from './encoding.ts'

/** How long the JSON of a row is, in bytes of UTF-8. */
export function rowBytes(row: object): number {
  return bytesOf(JSON.stringify(row)).length
}
