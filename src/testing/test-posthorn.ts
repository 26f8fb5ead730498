import { portablePlatform } from '../portable.ts'
import { makePosthorn } from '../posthorn.ts'
import type { Options } from '../options.ts'
import type { PluginKind, PluginsOf } from '../contracts/plugin.ts'
import type { AnyEvents } from '../schema/catalogue.ts'
import type { PluginInput } from '../schema/plugin.ts'
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

/** An instance whose time stands still until `advance` is called, and whose receivers are scripted. */
export interface TestPosthorn<Catalogue extends object = AnyEvents, Plugins = PluginInput> extends Posthorn<
  Catalogue,
  Plugins
> {
  /** The time of the instance. */
  readonly clock: FakeClock
  /** Requests that would have been sent, in order. The functions of deliveries are members of this list. */
  readonly deliveries: readonly RecordedDelivery[] & Posthorn['deliveries']
  /** Scripts the receiver of a URL: `receiver(url).answers(500, 200)`. Others answer 200. */
  receiver(url: string): ScriptedReceiver
  /**
   * Lets time pass, in milliseconds or as `'1h'`, and does everything that falls due meanwhile, at the moment when it
   * is due.
   */
  advance(time: number | string): Promise<void>
  /** Resolves at the next such thing. Call it before what brings it about. */
  until(milestone: Milestone): Promise<void>
}

/** The options of `createTestPosthorn`: those of `createPosthorn` without clock and HTTP client. */
export interface TestPosthornOptions<
  Events extends AnyEvents = AnyEvents,
  Kinds extends readonly PluginKind[] = readonly PluginKind[],
> extends Omit<Options<Events, Kinds>, 'clock' | 'http'> {
  /** Unix milliseconds; 2026-01-01T00:00:00Z by default. */
  readonly startAt?: number
}

/**
 * Makes an instance for tests: in memory, with a fake clock, sending nothing. Nothing needs `start`: publish, then
 * `drain()` or `advance('1h')`, and a retry chain of days takes milliseconds.
 *
 * @example
 * const posthorn = createTestPosthorn()
 * await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
 * await posthorn.events.create('default', { event_type: 'invoice.paid', data: {} })
 * await posthorn.drain()
 */
export function createTestPosthorn<
  Events extends AnyEvents = AnyEvents,
  const Kinds extends readonly PluginKind[] = readonly [],
>(options: TestPosthornOptions<Events, Kinds> = {}): TestPosthorn<Events, PluginInput<PluginsOf<Kinds>>> {
  const { startAt, ...rest } = options
  const clock = fakeClock(startAt)
  const receivers = scriptedReceivers(clock)
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({ ...rest, clock, http: receivers })
  return {
    ...posthorn,
    clock,
    deliveries: withFunctions(receivers.deliveries, posthorn.deliveries),
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

/** The same list, with functions that nobody meets who goes through the list. */
function withFunctions<List extends object, Functions extends object>(
  list: List,
  functions: Functions,
): List & Functions {
  const members = Object.entries(functions).map(([name, value]: [string, unknown]) => [name, { value }] as const)
  return Object.defineProperties(list, Object.fromEntries(members)) as List & Functions // name by name
}
