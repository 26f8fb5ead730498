import { ask, query } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { type Bucket, statsQuery } from '../kit/chart.tsx'
import { useLoad } from '../kit/load.ts'
import type { Scope } from '../kit/scope.ts'
import type { Endpoint, StatsReport } from '../kit/types.ts'
import { t } from '../texts.ts'

const refreshMs = 10_000

/** Counts of the last 24 hours by endpoint. */
export function useActivity(scope: Scope): ReadonlyMap<string, readonly Bucket[]> {
  const { data } = useLoad(
    `activity ${scope.api}`,
    (signal) =>
      ask<StatsReport>(`${scope.api}/stats${query({ ...statsQuery('24h'), group_by: 'endpoint' })}`, { signal }),
    { everyMs: refreshMs },
  )
  return new Map(data?.groups?.map(({ group, data: buckets }) => [group, buckets]))
}

export function State({ of }: { readonly of: Pick<Endpoint, 'enabled' | 'paused' | 'disabled_reason'> }) {
  if (!of.enabled) return <Badge tone={of.disabled_reason === 'manual' ? 'dim' : 'bad'}>{t('state.off')}</Badge>
  return of.paused ? <Badge tone="warn">{t('state.paused')}</Badge> : <Badge tone="good">{t('state.on')}</Badge>
}

const maxPatterns = 2

export function Patterns({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <span class="dim">{t('endpoint.events.nothing')}</span>
  if (of.includes('*')) return <>{t('endpoint.events.all')}</>
  const more = of.length - maxPatterns
  return (
    <span title={of.join('\n')}>
      {of.slice(0, maxPatterns).join(', ')}
      {more > 0 && <span class="dim"> +{more}</span>}
    </span>
  )
}
