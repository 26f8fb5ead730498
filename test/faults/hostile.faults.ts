// Tenants that are as hostile as they can be made, beside a quiet tenant: `traffic` (clients, receivers, rows) and `code`
// (functions, schemas), each for ten minutes, or as many as MINUTES says. Below five minutes times are printed and not judged.
// HALF names one of the two; SEED repeats a run.
import { isMainThread, workerData } from 'node:worker_threads'

import { tryCode } from '../hostile/code.ts'
import { faultsOf } from '../hostile/quiet.ts'
import { liveElsewhere, tryTraffic } from '../hostile/traffic.ts'

const seconds = 60 * Number(process.env['MINUTES'] ?? 10)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const halves = {
  traffic: () => tryTraffic({ seconds, seed }, new URL(import.meta.url)),
  code: () => tryCode({ seconds, seed }),
}

if (isMainThread) {
  for (const [name, run] of Object.entries(halves)) {
    if (![undefined, '', name].includes(process.env['HALF'])) continue
    console.log(`hostile ${name} for ${seconds} s, seed ${seed}`)
    const verdict = await run()
    console.log(JSON.stringify(verdict, null, 2))
    const faults = faultsOf(verdict, { times: seconds >= 300, holds: name === 'code' })
    console.log(faults.length === 0 ? 'a quiet tenant notices nothing' : faults.join('\n'))
    if (faults.length > 0) process.exitCode = 1
  }
} else await liveElsewhere((workerData as { seed: number }).seed)
