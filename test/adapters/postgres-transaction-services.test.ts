import { Pool } from 'pg'
import postgresJs from 'postgres'

import { type Host, transactionSuite } from '../transactions/suite.ts'

const pg: Host = {
  name: 'a pg client',
  async open(url) {
    const pool = new Pool({ connectionString: url, max: 5 })
    return {
      async transaction(inside) {
        const client = await pool.connect()
        try {
          await client.query('begin')
          await inside(client)
          await client.query('commit')
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
      outside: pool,
      close: () => pool.end(),
    }
  },
}

const postgresJsHost: Host = {
  name: 'postgres.js',
  async open(url) {
    const sql = postgresJs(url, { max: 5, onnotice: () => {} })
    return {
      async transaction(inside) {
        await sql.begin((tx) => inside(tx))
      },
      outside: sql,
      close: () => sql.end({ timeout: 1 }),
    }
  },
}

for (const host of [pg, postgresJsHost]) transactionSuite(host)
