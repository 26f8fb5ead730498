import { portablePlatform } from '../portable.ts'
import { makePosthorn } from '../posthorn.ts'
import type { Options } from '../options.ts'
import type { CatalogueEvent, EventCatalogue } from '../schema/catalogue.ts'
import type { EventInput } from '../schema/event.ts'
import type { Posthorn } from '../surface/posthorn.ts'
import { duration, type FakeClock, fakeClock } from './fake-clock.ts'
import { type RecordedDelivery, type ScriptedReceiver, scriptedReceivers } from './receiver.ts'

/** What `until` waits for. */
export type Milestone = 'event.stored' | 'attempt.settled' | 'delivery.exhausted' | 'endpoint.disabled'

const signalOf = {
  'event.stored': 'event',
  'attempt.settled': 'attempt',
  'delivery.exhausted': 'exhausted',
  'endpoint.disabled': 'endpoint.disabled',
} as const

/** An instance whose time stands still until it is told to go on, and whose receivers are scripted. */
export interface TestPosthorn<Input = EventInput> extends Posthorn<Input> {
  readonly clock: FakeClock
  /** Requests that would have been sent, in order. */
  readonly deliveries: readonly RecordedDelivery[]
  /** Scripts the receiver of a URL: `receiver(url).answers(500, 200)`. Others answer 200. */
  receiver(url: string): ScriptedReceiver
  /** Lets time pass, in milliseconds or as `'1h'`, and does all that falls due meanwhile, at its moment. */
  advance(time: number | string): Promise<void>
  /** Resolves at the next such thing. Call it before what brings it about. */
  until(milestone: Milestone): Promise<void>
}

export interface TestPosthornOptions<Events extends EventCatalogue = EventCatalogue> extends Omit<
  Options,
  'clock' | 'http' | 'events'
> {
  /** As in the options of `createPosthorn`. */
  readonly events?: Events
  /** Unix milliseconds; 2026-01-01T00:00:00Z by default. */
  readonly startAt?: number
}

/**
 * Makes an instance for tests: in memory, with a fake clock, sending nothing. Nothing needs `start`: publish, then
 * `drain()` or `advance('1h')`, and a retry chain of days takes milliseconds.
 */
export function createTestPosthorn<const Events extends EventCatalogue = EventCatalogue>(
  options: TestPosthornOptions<Events> = {},
): TestPosthorn<CatalogueEvent<Events>> {
  const { startAt, ...rest } = options
  const clock = fakeClock(startAt)
  const receivers = scriptedReceivers(clock)
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({ ...rest, clock, http: receivers })
  return {
    ...posthorn,
    clock,
    deliveries: receivers.deliveries,
    receiver: receivers.receiver,
    advance: (time) => posthorn.drain({ until: clock.now() + duration(time) }),
    until: (milestone) =>
      new Promise((resolve) => {
        const off = posthorn.on(signalOf[milestone], () => {
          off()
          resolve()
        })
      }),
  }
}
