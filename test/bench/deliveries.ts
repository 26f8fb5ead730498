import type { Options } from '../../src/options.ts'
import type { EventInput } from '../../src/schema/catalogue.ts'
import type { Posthorn } from '../../src/surface/posthorn.ts'
import type { Setting } from './compare.ts'
import { type Engine, openPosthorn } from './engines.ts'
import { laps, warmUp } from './peers/tools.ts'

/** The data of an event of 1 KiB. */
export const eventData = JSON.stringify({ customer: 'c'.repeat(32), note: 'n'.repeat(968) })

interface Deliveries {
  readonly posthorn: Posthorn
  /** Publishes so many events, and resolves when all are delivered and recorded. */
  run(count: number): Promise<void>
  close(): Promise<void>
}

/** An instance with one endpoint that signs, warmed up. */
export async function openDeliveries(
  engine: Engine,
  setting: Setting,
  {
    headers = {},
    isSingle = false,
    ...options
  }: Pick<Options, 'deliver' | 'secrets'> & {
    counts?: boolean
    headers?: Readonly<Record<string, string>>
    /** Whether each event is a call of its own, many of them side by side. */
    isSingle?: boolean
  },
): Promise<Deliveries> {
  const lap = laps(JSON.parse(setting.data))
  const { posthorn, close } = await openPosthorn(engine, setting, { ...options, settled: lap.delivered })
  const endpoint = await posthorn.endpoints.create('default', { request: { url: setting.url, headers }, events: ['*'] })
  await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: endpoint.id })
  await posthorn.start()
  const publish = async (events: readonly EventInput[]): Promise<void> => {
    if (isSingle) await Promise.all(events.map((event) => posthorn.events.create('default', event)))
    else await posthorn.events.createMany('default', events)
  }
  const run = (count: number) =>
    lap.run(count, (batch) => publish(batch.map(({ type, data }) => ({ event_type: type, data }))))
  await run(warmUp)
  return {
    posthorn,
    run,
    async close() {
      await posthorn.stop()
      await close()
    },
  }
}
