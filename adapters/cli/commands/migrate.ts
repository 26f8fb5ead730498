import type { Command } from 'commander'

import { command, type Surroundings } from '../command.ts'
import { openDatabase } from '../engine.ts'
import { UsageError } from '../failure.ts'
import { schemaVersionOf } from '../schema-version.ts'
import { allOf, settingsOf } from '../given-settings.ts'

interface Given {
  readonly config?: string
  readonly sql?: true
  readonly check?: true
  readonly json?: true
}

const lastStepWaits =
  'The last step waits until no process of the version before was seen for five minutes. Run posthorn migrate again then.'

export function migrateCommand({ terminal, env }: Surroundings): Command {
  return command(
    'migrate',
    'make the schema of PostgreSQL, or bring it up to date',
    'DATABASE_URL=postgres://localhost/app posthorn migrate',
    'posthorn migrate --sql > posthorn.sql',
  )
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .option('--sql', 'print the SQL, and connect to nothing')
    .option('--check', 'change nothing; exit with 1 when a migration is pending')
    .action(async ({ config, sql, check, json }: Given) => {
      const { settings, problems } = await settingsOf(env, config)
      // What is wrong for a server is no matter here; a wrong database is.
      const ours = problems.filter((each) => /DATABASE|database/.test(each))
      if (ours.length > 0) throw new UsageError(allOf(ours))
      const { latestSchemaVersion, migrationSql, schemaVersion } = await import('posthorn/postgres')
      if (sql) {
        const text = migrationSql({ schema: settings.databaseSchema })
        return json ? terminal.json({ sql: text }) : terminal.line(text.trimEnd())
      }
      if (settings.databaseUrl === undefined)
        throw new UsageError('set DATABASE_URL: which database shall be migrated?')
      const database = await openDatabase(settings)
      try {
        const name = settings.databaseSchema
        const before = await schemaVersionOf(database, name)
        const isPending = before < schemaVersion
        if (!check && isPending)
          terminal.note(`migrating the schema ${name} from version ${before} to ${latestSchemaVersion} ...`)
        if (!check && before < latestSchemaVersion) await database.migrate()
        const version = check ? before : await schemaVersionOf(database, name)
        if (json) {
          terminal.json({
            schema: name,
            before,
            version: check ? schemaVersion : version,
            pending: check === true && isPending,
          })
        } else if (check && isPending) {
          terminal.line(`Pending: version ${before}, needed ${schemaVersion}. Run posthorn migrate.`)
        } else {
          const is = version === before ? `is up to date (version ${version})` : `has version ${version}`
          terminal.line(`The schema ${name} ${is}.`)
          if (version < latestSchemaVersion) terminal.line(lastStepWaits)
        }
        if (check && isPending) process.exitCode = 1
      } finally {
        await database.close()
      }
    })
}
