// Publishing inside a transaction of Prisma: the order and its event are both there, or neither.
import { PrismaPg } from '@prisma/adapter-pg'
import { type Prisma, PrismaClient } from '@prisma/client'
import pg from 'pg'
import { createPosthorn } from 'posthorn'
import { migrate, postgres, type PostgresClient } from 'posthorn/postgres'

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
})
pool.on('error', (error) => console.error(error.message))
await migrate(pool)
await pool.query('create table if not exists orders (id integer primary key)')

const prisma = new PrismaClient({ adapter: new PrismaPg(pool) }) // of a schema with: model Order { id Int @id @@map("orders") }
const posthorn = createPosthorn({ storage: postgres(pool) })

const through = (tx: Prisma.TransactionClient): PostgresClient => ({
  query: async (text, values) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }),
})

async function placeOrder(id: number) {
  await prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id } })
    await posthorn.using(through(tx)).events.create('default', { event_type: 'order.created', data: { id } })
  })
}

await placeOrder(1)
await placeOrder(1).catch((error: Error) => console.log(error.message))
console.log(`events: ${(await posthorn.events.list('default')).data.length}`)
await prisma.$disconnect()
await pool.end()
