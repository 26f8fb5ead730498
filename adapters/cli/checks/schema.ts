import { sentenceOf } from '../failure.ts'
import { schemaVersionOf } from '../schema-version.ts'
import { type Check, ok, problem } from './check.ts'

/** The version of the schema of PostgreSQL, and what the role may do in it. */
export const schemaCheck: Check = async ({ engine: { database }, storage, settings }) => {
  if (database === null) return []
  const { schemaVersion } = await import('posthorn/postgres')
  const name = settings.databaseSchema
  const version = await schemaVersionOf(database, name).catch((error: unknown) => error as Error)
  if (version instanceof Error) {
    const message = `The schema ${name} cannot be read: ${version.message}.`
    return [problem('rights', message, 'Grant the role what docs/postgres-roles.md lists.')]
  }
  if (version < schemaVersion) {
    const is = version === 0 ? 'is not there' : `has version ${version}, and version ${schemaVersion} is needed`
    return [problem('schema', `The schema ${name} ${is}.`, 'Run posthorn migrate.')]
  }
  const found = ok('schema', `The schema ${name} has version ${version}.`)
  try {
    await storage.verify?.()
    return [found, ok('rights', 'The role has all the rights that it needs.')]
  } catch (error) {
    const isRight = /lacks/.test(sentenceOf(error))
    const advice = isRight ? 'Grant the role what docs/postgres-roles.md lists.' : 'Do what the sentence says.'
    return [found, problem(isRight ? 'rights' : 'schema', `${sentenceOf(error)}.`, advice)]
  }
}
