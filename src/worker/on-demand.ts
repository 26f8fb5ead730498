import type { Needs, Worker } from './worker.ts'

/** The worker, loaded when it is first asked to work: a process that only receives and publishes never does. */
export function workerOnDemand(needs: Needs): Worker {
  let loading: Promise<Worker> | undefined

  async function load(): Promise<Worker> {
    const { worker } = await import('./worker.ts')
    return worker(needs)
  }
  const ready = (): Promise<Worker> => (loading ??= load())

  return {
    start: async () => (await ready()).start(),
    stop: async (options) => (await ready()).stop(options),
    tick: async (options) => (await ready()).tick(options),
    drain: async (options) => (await ready()).drain(options),
  }
}
