// The network between the library and its engine: stalls, resets, silence and half-open connections, each with PostgreSQL
// through pg and postgres.js, and with Redis through ioredis and node-redis. They wait more than they work, so all run side
// by side, in three minutes. CASES=redis or CASES='stall of 5 s' runs those whose name matches.
import { engines } from './network-engines.ts'
import { faults } from './network-faults.ts'
import { type NetworkReport, networkTried } from './network-trial.ts'
import { startReceiver } from './receiver.ts'
import { seconds, table } from './report.ts'

const wanted = new RegExp(process.env['CASES'] ?? '')
const begun = Date.now()
const { all, stop } = await engines()
const receiver = await startReceiver(0)
const cases = faults
  .flatMap((fault) => all.map((engine) => ({ fault, engine, name: `${engine.name}: ${fault.name}` })))
  .filter(({ name }) => wanted.test(name))

const reports: NetworkReport[] = []
let failed = 0
// Such an error would end a host's process. It cannot be told which case it belongs to.
for (const kind of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(kind, (error: unknown) => {
    failed++
    console.error(`${kind}:`, error)
  })
}
await Promise.all(
  cases.map(async ({ fault, engine, name }) => {
    try {
      reports.push(await networkTried(fault, engine, receiver))
    } catch (error) {
      failed++
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }),
)
receiver.close()
await stop()
const order = cases.map(({ name }) => name)
const place = ({ engine, fault }: NetworkReport): number => order.indexOf(`${engine}: ${fault}`)
console.log(table(reports.toSorted((a, b) => place(a) - place(b))))
const broken = reports.filter((report) => report.broken !== '').length + failed
console.log(`${cases.length} cases in ${seconds(Date.now() - begun)} s, ${broken} broken`)
process.exit(broken === 0 ? 0 : 1)
