// Kills a shop 200 times in the middle of orders that it writes together with their events.
import { startPostgres } from '../support/postgres.ts'
import { killShops } from '../support/shop.ts'

const { url, stop } = await startPostgres()
if (url === null) throw new Error('There is no PostgreSQL to run the shop on')
try {
  const { killed, orders, halves, delivered, repeated } = await killShops(url, { times: 200 })
  console.log(`killed ${killed} times: ${orders} orders, ${halves} without their event or the reverse,`)
  console.log(`${delivered} delivered, ${repeated} of them more than once`)
  if (orders === 0 || halves > 0 || delivered < orders) process.exitCode = 1
} finally {
  await stop()
}
