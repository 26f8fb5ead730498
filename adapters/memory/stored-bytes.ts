import { rowBytes } from '../../src/core/row-bytes.ts'

const known = new WeakMap<object, number>()

/** As `rowBytes`, of a row that is stored: it is never changed in place, so it is measured once, however often it is listed. */
export function storedBytes(row: object): number {
  let bytes = known.get(row)
  if (bytes === undefined) known.set(row, (bytes = rowBytes(row)))
  return bytes
}
