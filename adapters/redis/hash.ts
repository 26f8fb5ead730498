import type { Connection } from './client.ts'

/** All fields of a hash, a bounded part at a time. A field that was read twice counts once. */
export async function fieldsOf(connection: Connection, key: string): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>()
  let cursor = '0'
  do {
    const reply = await connection.send('HSCAN', [key, cursor, 'COUNT', '500'], true)
    const [next, flat] = reply as [string, string[]] // the same in both protocols
    for (let i = 0; i < flat.length; i += 2) fields.set(flat[i]!, flat[i + 1]!)
    cursor = next
  } while (cursor !== '0')
  return fields
}
