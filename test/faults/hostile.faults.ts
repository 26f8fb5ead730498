// Code of tenants that is as hostile as it can be made, beside a quiet tenant: ten minutes, or as many as MINUTES says.
// Below five minutes times are printed and not judged.
// SEED repeats a run.
import { faultsOf, runTrial } from '../hostile/trial.ts'

const seconds = 60 * Number(process.env['MINUTES'] ?? 10)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

console.log(`hostile code of tenants for ${seconds} s, seed ${seed}`)
const verdict = await runTrial({ seconds, seed })
console.log(JSON.stringify(verdict, null, 2))
const faults = faultsOf(verdict, { judgesTimes: seconds >= 300 })
console.log(faults.length === 0 ? 'a quiet tenant notices nothing' : faults.join('\n'))
process.exitCode = faults.length === 0 ? 0 : 1
