import type { Worker } from '../surface/worker.ts'
import type { Needs } from './worker.ts'

/** The worker, loaded at the first call. A process that only receives and publishes never loads the code of the worker. */
export function workerOnDemand(needs: Needs): Worker {
  let loading: Promise<Worker> | undefined

  async function load(): Promise<Worker> {
    const { LocalWorker } = await import('./worker.ts')
    return new LocalWorker(needs)
  }
  const ready = (): Promise<Worker> => (loading ??= load())

  return {
    start: async () => (await ready()).start(),
    stop: async (options) => (await ready()).stop(options),
    tick: async (options) => (await ready()).tick(options),
    drain: async (options) => (await ready()).drain(options),
  }
}
