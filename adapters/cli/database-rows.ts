import type { OpenedPostgres } from 'posthorn/postgres'

/** The rows of one statement. */
export async function rowsOf(
  database: OpenedPostgres,
  statement: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = await database.connect()
  try {
    return ((await client.query(statement)) as { rows: Readonly<Record<string, unknown>>[] }).rows // as pg answers
  } finally {
    client.release()
  }
}
