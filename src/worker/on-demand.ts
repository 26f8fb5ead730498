import { lazy } from '../runtime/lazy.ts'
import type { Worker } from '../surface/worker.ts'
import type { Deliver } from '../services/deliver.ts'
import type { Needs } from './needs.ts'

/** The worker, loaded at the first call. A process that only receives and publishes never loads the code of the worker. */
export function workerOnDemand({
  deliver,
  ...needs
}: Omit<Needs, 'deliver'> & { deliver: () => Deliver | Promise<Deliver> }): Worker {
  const worker = lazy(async (): Promise<Worker> => {
    const [{ LocalWorker }, delivering] = await Promise.all([import('./worker.ts'), deliver()])
    return new LocalWorker({ ...needs, deliver: delivering })
  })
  return {
    start: async () => (await worker()).start(),
    stop: async (options) => (await worker()).stop(options),
    tick: async (options) => (await worker()).tick(options),
    drain: async (options) => (await worker()).drain(options),
  }
}
