import type { Context } from '../context.ts'
import type { Histogram, ProcessMetrics } from '../services/process-metrics.ts'
import { figures } from '../services/status.ts'
import { version } from '../version.ts'

/** The content type of Prometheus' text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/**
 * The metrics of this process in Prometheus' text format. Values of labels come from closed sets: no name, id or
 * address is a label. Figures that an engine does not answer are left out, so that a scrape during an outage of an
 * engine still gets all others.
 */
export async function metricsText(ctx: Context, seen: ProcessMetrics): Promise<string> {
  const { counters } = ctx
  const { connections, queue, pending } = await figures(ctx)
  const vitals = ctx.platform.vitals()
  const of = (value: number | undefined | null): Sample[] => (value == null ? [] : [[{}, value]])
  const each = (label: string, counts: ReadonlyMap<string, number>): Sample[] =>
    [...counts].map(([name, value]) => [{ [label]: name }, value])
  const up = (component: string, answer: unknown): Sample => [{ component }, answer === null ? 0 : 1]
  const attempts = [...seen.attempts].flatMap(([status, codes]) =>
    [...codes].map(([error_code, value]): Sample => [{ status, error_code }, value]),
  )

  return [
    family('info', 'gauge', 'The version that runs.', [[{ version, runtime: vitals.version }, 1]]),
    family('uptime_seconds', 'gauge', 'Time since this instance was made.', of(ctx.uptimeMs() / 1000)),
    family('up', 'gauge', 'Whether the engine answers.', [
      up('storage', connections),
      up('queue', queue),
      up('inbox', pending),
    ]),
    family('inbound_requests_total', 'counter', 'Requests that reached the gateway.', of(counters.inbound)),
    family(
      'inbound_failed_requests_total',
      'counter',
      'Requests that the gateway refused itself.',
      of(counters.inboundFailed),
    ),
    family('events_total', 'counter', 'Events stored by this process.', of(seen.events)),
    family('outbound_requests_total', 'counter', 'Requests sent to endpoints.', of(counters.outbound)),
    family('outbound_requests_in_flight', 'gauge', 'Requests being sent now.', of(counters.outboundProcessing)),
    family('attempts_total', 'counter', 'Attempts that ended, by status and error code.', attempts),
    histogram('attempt_duration_seconds', 'Time from sending a request to the end of its attempt.', seen.durations),
    family('deliveries_exhausted_total', 'counter', 'Deliveries given up after their last try.', of(seen.exhausted)),
    family(
      'endpoints_disabled_total',
      'counter',
      'Endpoints disabled by 410 Gone (gone), by the circuit breaker (breaker), or after days of failures (failing).',
      each('reason', seen.disabled),
    ),
    family('overloaded_total', 'counter', 'Work refused because too much waits.', each('what', seen.overloaded)),
    family('queue_jobs', 'gauge', 'Jobs in the delivery queue, those due later included.', of(queue?.size)),
    family('queue_backlog_seconds', 'gauge', 'How long the oldest due job has waited.', of(queue?.backlogSeconds)),
    family('inbox_messages', 'gauge', 'Events accepted by async sources and not yet stored.', of(pending)),
    family(
      'storage_connections',
      'gauge',
      'Connections to the storage.',
      connections === null
        ? []
        : [
            [{ state: 'busy' }, connections.active],
            [{ state: 'idle' }, connections.total - connections.active],
          ],
    ),
    family('heap_used_bytes', 'gauge', 'Heap in use.', of(vitals.heapUsed)),
    family('resident_bytes', 'gauge', 'Memory of the process.', of(vitals.residentSet)),
  ].join('')
}

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  return head(name, type, help) + samples.map(([labels, value]) => sample(name, labels, value)).join('')
}

/** Buckets of this format are cumulative. */
function histogram(name: string, help: string, { bounds, counts, sum }: Histogram): string {
  let total = 0
  const buckets = counts.map((count, i) => {
    total += count
    return sample(`${name}_bucket`, { le: i < bounds.length ? String(bounds[i]) : '+Inf' }, total)
  })
  return (
    head(name, 'histogram', help) +
    buckets.join('') +
    sample(`${name}_sum`, {}, sum) +
    sample(`${name}_count`, {}, total)
  )
}

function head(name: string, type: string, help: string): string {
  return `# HELP posthorn_${name} ${help}\n# TYPE posthorn_${name} ${type}\n`
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(
    ([key, text]) => `${key}="${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  return `posthorn_${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}
