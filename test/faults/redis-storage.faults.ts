// Redis as the only engine: servers that die, and what their settings of persistence lose then.
import * as faults from './redis-faults.ts'
import { type Loss, lostAt } from './redis-loss.ts'
import { redisTried } from './redis-trial.ts'
import { holds, table } from './report.ts'

const losses: Loss[] = []
for (const appendfsync of ['always', 'everysec'] as const) {
  for (const end of ['kill -9', 'power cut'] as const) {
    // The end comes at another moment of the second each time.
    for (const loadMs of [3000, 3300, 3600, 3900]) {
      const loss = await lostAt(end, { appendfsync, loadMs })
      if (loss !== null) losses.push(loss)
      else console.log('No file system may be mounted here, so no power is cut.')
    }
  }
}
console.log(table(losses))
const worst = Math.max(...losses.map(({ windowMs }) => windowMs))
console.log(`With everysec at most ${worst} ms of what was acknowledged were lost.`)

const size = { events: 10_000, strikes: 5, everyMs: 2000, answerMs: 20 }
const report = await redisTried(faults.crashed, null, size)
console.log(table([report]))

const kept = losses.every(({ appendfsync, lost }) => appendfsync === 'everysec' || lost === 0)
if (!kept || !holds(report) || report.accepted !== size.events) process.exitCode = 1
