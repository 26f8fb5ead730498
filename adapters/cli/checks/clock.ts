import { spanText } from '../clock-text.ts'
import { type Check, ok, problem } from './check.ts'

/** The same bound from which on a running process warns. */
const maxMs = 500

/** Compares the clock of this machine with that of the engine. */
export const clockCheck: Check = async ({ storage, now }) => {
  const before = now()
  const engineTime = await storage.time()
  const after = now()
  // The answer was made at some moment between the two.
  const offBy = engineTime < before ? before - engineTime : Math.max(0, engineTime - after)
  if (offBy <= maxMs) return [ok('clock', `The clocks of this machine and of ${storage.name} agree.`)]
  const side = engineTime < before ? 'ahead of' : 'behind'
  return [
    problem(
      'clock',
      `The clock of this machine is ${offBy < 1000 ? `${Math.round(offBy)} ms` : spanText(offBy)} ${side} that of ${storage.name}.`,
      'Run a time service (chrony, systemd-timesyncd) on both machines: signatures carry the time of this one.',
    ),
  ]
}
