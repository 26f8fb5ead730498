import type { Connection } from './client.ts'

/** The clock of the server, unix milliseconds. */
export async function timeOf(connection: Connection): Promise<number> {
  const [seconds, micros] = (await connection.send('TIME', [], true)) as [string, string] // as documented
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}
