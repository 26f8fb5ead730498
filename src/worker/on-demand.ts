import type { Needs, OwnWorker } from './worker.ts'

/** The worker, loaded when it is first asked to work: a process that only receives and publishes never does. */
export function workerOnDemand(needs: Needs): OwnWorker {
  let loading: Promise<OwnWorker> | undefined
  let loaded: OwnWorker | undefined

  async function load(): Promise<OwnWorker> {
    const { worker } = await import('./worker.ts')
    return (loaded = worker(needs))
  }
  const ready = (): Promise<OwnWorker> => (loading ??= load())

  return {
    start: async () => (await ready()).start(),
    stop: async (options) => (await ready()).stop(options),
    tick: async (options) => (await ready()).tick(options),
    drain: async (options) => (await ready()).drain(options),
    hasRoom: (jobs) => loaded?.hasRoom(jobs) ?? false,
  }
}
