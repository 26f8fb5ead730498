import { describe, expect, inject, test } from 'vitest'

import { freshSchema } from '../support/postgres.ts'
import { program } from '../support/program.ts'

/**
 * A process that starts, publishes what falls due in a few seconds, is stopped, and has nothing else to do. It says after
 * how many milliseconds it ended.
 */
const script = (engine: string): string => `
  import { createPosthorn } from 'posthorn'
  ${engine}
  const posthorn = createPosthorn({ storage, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  await posthorn.endpoints.create('default', {
    request: { url: 'https://receiver.invalid/' }, events: ['*'], retry: { config: { attempts: [5, 5] } },
  })
  await posthorn.start()
  await posthorn.events.create('default', { event_type: 'x', data: {} })
  await posthorn.stop()
  await posthorn.events.create('default', { event_type: 'x', data: {} })
  await close()
  const since = performance.now()
  process.on('exit', () => console.log('ended after ' + Math.round(performance.now() - since) + ' ms'))
`

const onMemory = `
  import { memory } from 'posthorn/memory'
  const storage = memory()
  const close = async () => {}
`

const onPostgres = (url: string, schema: string): string => `
  import pg from 'pg'
  import { migrate, postgres } from 'posthorn/postgres'
  const pool = new pg.Pool({ connectionString: ${JSON.stringify(url)} })
  await migrate(pool, { schema: '${schema}' })
  const storage = postgres(pool, { schema: '${schema}' })
  const close = () => pool.end()
`

describe('after `stop` nothing keeps the process alive', () => {
  async function endedAfterMs(engine: string): Promise<number> {
    const run = program(process.execPath, ['--input-type=module', '--eval', script(engine)])
    return Number(/ended after (\d+) ms/.exec(await run.ended())?.[1])
  }

  test('in memory', async () => {
    expect(await endedAfterMs(onMemory)).toBeLessThan(2000)
  })

  const url = inject('postgresUrl')
  test.skipIf(url === null)('on PostgreSQL', async () => {
    expect(await endedAfterMs(onPostgres(url!, freshSchema()))).toBeLessThan(2000) // skipped where it is null
  })
})
