import { useRef } from 'preact/hooks'

import { ask, query, segment } from '../kit/ask.ts'
import { OutcomeChart, type Period, periodOf, periods, statsQuery } from '../kit/chart.tsx'
import { count, percent, Time } from '../kit/figures.tsx'
import { Choice } from '../kit/form.tsx'
import { Figures, Panel } from '../kit/layout.tsx'
import { type Loaded, useLoad } from '../kit/load.ts'
import { parameters, setParameters } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import type { EndpointHealth, StatsReport } from '../kit/types.ts'
import { t, type TextKey } from '../texts.ts'

const refreshMs = 10_000

export function PeriodChoice() {
  const options = (Object.keys(periods) as Period[]).map((each) => [each, t(`range.${each}` as TextKey)] as const)
  return (
    <Choice
      label={t('range.label')}
      value={periodOf(parameters.value.get('period'))}
      options={options}
      onChange={(period) => setParameters({ period })}
    />
  )
}

export interface Health {
  /** Whether both have been answered once. */
  readonly isKnown: boolean
  readonly figures: Loaded<EndpointHealth>
  /** The tries of the chosen period. */
  readonly stats: Loaded<StatsReport>
}

/** How an endpoint does. Asked beside the endpoint itself, so that a reader waits for both at once. */
export function useHealth(scope: Scope, endpoint: string): Health {
  const period = periodOf(parameters.value.get('period'))
  const stats = useLoad(
    `stats ${endpoint} ${period}`,
    (signal) =>
      ask<StatsReport>(`${scope.api}/stats${query({ ...statsQuery(period), endpoint_id: endpoint })}`, { signal }),
    { everyMs: refreshMs },
  )
  const figures = useLoad(
    `health ${endpoint}`,
    (signal) => ask<EndpointHealth>(`${scope.api}/endpoints/${segment(endpoint)}/health`, { signal }),
    { everyMs: refreshMs },
  )
  const isKnown = useRef(false)
  isKnown.current ||= [figures, stats].every(({ data, error }) => data !== undefined || error !== undefined)
  return { figures, stats, isKnown: isKnown.current }
}

/** An endpoint once its health is known too, so that the view is drawn once. */
export function beside<Data>(endpoint: Loaded<Data>, { isKnown }: Health): Loaded<Data> {
  return isKnown || endpoint.error !== undefined ? endpoint : { ...endpoint, data: undefined }
}

/** How an endpoint does: figures and a chart. */
export function Activity({ of: { figures, stats }, isPaused }: { readonly of: Health; readonly isPaused: boolean }) {
  return (
    <Panel title={t('endpoint.activity')} actions={<PeriodChoice />}>
      <div class="stack">
        <Shown of={figures} rows={2}>
          {(each) => <HealthFigures of={each} isPaused={isPaused} />}
        </Shown>
        <Shown of={stats} rows={5}>
          {({ data }) => <OutcomeChart buckets={data} />}
        </Shown>
      </div>
    </Panel>
  )
}

function HealthFigures({ of, isPaused }: { readonly of: EndpointHealth; readonly isPaused: boolean }) {
  const { success_rate_24h: rate, consecutive_failures: failures, due_now: due } = of
  return (
    <>
      <Figures
        of={[
          {
            name: t('endpoint.rate24h'),
            value: percent(rate),
            ...(rate !== null && { tone: rate >= 0.99 ? 'good' : rate >= 0.9 ? 'warn' : 'bad' }),
          },
          { name: t('endpoint.rate1h'), value: percent(of.success_rate_1h) },
          { name: t('endpoint.failures'), value: count(failures), ...(failures > 0 && { tone: 'bad' }) },
          { name: t('endpoint.dueNow'), value: due === null ? '–' : count(due) },
          { name: t('endpoint.lastSuccess'), value: <Time at={of.last_success_at} /> },
        ]}
      />
      {of.last_failure !== null && (
        <p class="dim">
          {t('endpoint.lastFailure')}: <Time at={of.last_failure.at} />
          {of.last_failure.reason !== null && ` – ${of.last_failure.reason}`}
        </p>
      )}
      {of.paused_until !== null && !isPaused && (
        <p class="dim">
          {t('endpoint.pausedUntil')} <Time at={of.paused_until} />
        </p>
      )}
    </>
  )
}
