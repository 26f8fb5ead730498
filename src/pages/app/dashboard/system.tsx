import { ask } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { count, duration, Time } from '../kit/figures.tsx'
import { Facts, Figures, Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Shown } from '../kit/states.tsx'
import { Table } from '../kit/table.tsx'
import type { HealthReport, ProcessReport, StatusReport } from '../kit/types.ts'
import { t } from '../texts.ts'

const refreshMs = 5000

/** How the instance does: engines, queue, processes. */
export function SystemView() {
  const status = useLoad('system status', (signal) => ask<StatusReport>('/status', { signal }), { everyMs: refreshMs })
  const health = useLoad('health', (signal) => ask<HealthReport>('/health', { signal }), { everyMs: refreshMs })
  const version = useLoad('version', (signal) => ask<{ readonly version: string }>('/api/', { signal }))
  const processes = useLoad(
    'processes',
    (signal) => ask<readonly ProcessReport[]>('/api/instance/processes', { signal }),
    {
      everyMs: refreshMs,
    },
  )
  return (
    <>
      <Head title={t('system.title')} />
      <Panel title={t('system.health')}>
        <div class="stack">
          <Shown of={health} rows={2}>
            {({ components: { storage, queue } }) => (
              <ul class="rows">
                {[[t('system.storage'), storage] as const, [t('system.queue'), queue] as const].map(([name, each]) => (
                  <li key={name} class="row-line">
                    <Badge tone={each.status === 'UP' ? 'good' : 'bad'}>
                      {t(each.status === 'UP' ? 'system.up' : 'system.down')}
                    </Badge>
                    <span>{name}</span>
                    <span class="dim">{each.error ?? (each.listening === false ? t('system.notListening') : '')}</span>
                  </li>
                ))}
              </ul>
            )}
          </Shown>
        </div>
      </Panel>
      <Panel title={t('system.queue')}>
        <Shown of={status} rows={2}>
          {({ queue, event }) => (
            <Figures
              of={[
                { name: t('overview.backlog'), value: count(queue.size) },
                { name: t('overview.oldest'), value: duration(queue.backlog_latency_secs * 1000) },
                { name: t('system.pending'), value: count(event.pending) },
              ]}
            />
          )}
        </Shown>
      </Panel>
      <Panel title={t('system.processes')}>
        <Shown of={processes} rows={3}>
          {(all) => (
            <>
              {all.length === 0 ? (
                <p>{t('system.processes.none')}</p>
              ) : (
                <Table
                  label={t('system.processes')}
                  rows={all}
                  keyOf={({ id }) => id}
                  columns={[
                    { title: t('system.process'), grows: true, cell: ({ id }) => <span class="id">{id}</span> },
                    { title: t('system.version'), from: 'mid', cell: (each) => each.version },
                    { title: t('system.runtime'), from: 'wide', cell: ({ runtime }) => runtime },
                    { title: t('system.started'), from: 'wide', cell: ({ started_at }) => <Time at={started_at} /> },
                    {
                      title: t('system.inflight'),
                      from: 'mid',
                      number: true,
                      cell: ({ in_flight }) => count(in_flight),
                    },
                    { title: t('system.sent'), number: true, cell: ({ sent }) => count(sent) },
                    { title: t('system.seen'), cell: ({ seen_at }) => <Time at={seen_at} /> },
                  ]}
                />
              )}
            </>
          )}
        </Shown>
      </Panel>
      <Panel title={t('system.thisProcess')}>
        <Shown of={status} rows={4}>
          {(each) => (
            <Facts
              of={[
                [t('system.version'), version.data?.version ?? '–'],
                [t('system.runtime'), each.runtime.go],
                [t('system.uptime'), each.uptime],
                [t('system.memory'), each.memory.alloc],
                [
                  t('system.connections'),
                  t('system.connections.text', {
                    active: each.database.active_connections,
                    total: each.database.total_connections,
                  }),
                ],
                [t('system.inbound'), withFailures(each.inbound_requests, each.inbound_failed_requests)],
                [t('system.outbound'), withFailures(each.outbound_requests, each.outbound_failed_requests)],
                [t('system.inflight'), count(each.outbound_processing_requests)],
              ]}
            />
          )}
        </Shown>
      </Panel>
    </>
  )
}

function withFailures(all: number, failed: number): string {
  return failed === 0 ? count(all) : `${count(all)}, ${t('system.failures', { n: count(failed) })}`
}
