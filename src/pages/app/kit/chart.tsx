import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

import { t } from '../texts.ts'
import { count } from './figures.tsx'

/** Counts of a bucket of time. */
export interface Bucket {
  readonly time: number
  readonly succeeded: number
  readonly failed: number
  readonly exhausted: number
  readonly canceled: number
  readonly p50: number | null
  readonly p95: number | null
}

const height = 180

/** Tries by outcome as stacked bars: succeeded below, failed above. A table beside it says the same to readers of the screen. */
export function OutcomeChart({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const data = dataOf(buckets)

  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new uPlot(optionsOf(element), data, element)
    plot.current = made
    const observer = new ResizeObserver(() => {
      if (made.width !== element.clientWidth) made.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => made.redraw()
    scheme.addEventListener('change', redraw)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', redraw)
      made.destroy()
    }
  }, [])
  const drawn = useRef(buckets)
  useEffect(() => {
    if (drawn.current === buckets) return
    drawn.current = buckets
    plot.current?.setData(data)
  }, [buckets])

  const succeeded = buckets.reduce((sum, bucket) => sum + bucket.succeeded, 0)
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0)
  return (
    <figure class="chart">
      <figcaption class="legend">
        <span class="key key-good">
          {t('overview.succeeded')} <b>{count(succeeded)}</b>
        </span>
        <span class="key key-bad">
          {t('overview.failed')} <b>{count(failed)}</b>
        </span>
      </figcaption>
      <div ref={place} class="chart-place" role="img" aria-label={`${t('overview.chart')}: ${succeeded} / ${failed}`} />
    </figure>
  )
}

function dataOf(buckets: readonly Bucket[]): uPlot.AlignedData {
  return [
    buckets.map(({ time }) => time / 1000),
    buckets.map(({ succeeded, failed }) => succeeded + failed),
    buckets.map(({ succeeded }) => succeeded),
  ]
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

function optionsOf(element: HTMLElement): uPlot.Options {
  const bars = uPlot.paths.bars!({ size: [0.8, 40], align: 1 })
  const axis = {
    stroke: () => colour('--dim'),
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const series = (name: string): uPlot.Series => ({
    fill: () => colour(name),
    width: 0,
    paths: bars,
    points: { show: false },
  })
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    padding: [8, 28, 0, 0],
    scales: {
      x: { range: (plot, min, max) => [min, max + stepOf(plot)] },
      y: { range: (_, __, max) => [0, Math.max(4, Math.ceil(max * 1.1))] },
    },
    axes: [
      { ...axis, space: 76, size: 40, values: (_, ticks, __, ___, step) => timesOf(ticks, step) },
      {
        ...axis,
        size: 44,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7],
        values: (_, ticks) => ticks.map((each) => count(each)),
      },
    ],
    series: [{}, series('--bad'), series('--good')],
  }
}

const hourFormat = new Intl.DateTimeFormat(undefined, { hour: 'numeric' })
const minuteFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const hourSeconds = 3600
const daySeconds = 86_400

/** Moments as the reader writes them: times, with the day below the first and at each midnight; days where steps are days. */
function timesOf(ticks: readonly number[], step: number): string[] {
  return ticks.map((tick, i) => {
    const moment = new Date(tick * 1000)
    if (step >= daySeconds) return dayFormat.format(moment)
    const isNewDay = i === 0 || new Date(ticks[i - 1]! * 1000).getDate() !== moment.getDate()
    const time = (step >= hourSeconds ? hourFormat : minuteFormat).format(moment)
    return `${time}${isNewDay ? `\n${dayFormat.format(moment)}` : ''}`
  })
}

/** The width of a bucket: the last bucket begins where the scale would end. */
function stepOf({ data: [times] }: uPlot): number {
  return times.length < 2 ? 60 : times[1]! - times[0]!
}

/** A small line of how much succeeded and failed. */
export function Sparkline({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const width = 120
  const tall = 24
  const max = Math.max(1, ...buckets.map(({ succeeded, failed }) => succeeded + failed))
  const step = width / Math.max(1, buckets.length)
  const bar = (i: number, from: number, n: number) => {
    const [x, y, wide, high] = [i * step, tall - (from / max) * tall, step * 0.8, (n / max) * tall].map((each) =>
      each.toFixed(1),
    )
    return n === 0 ? '' : `M${x} ${y}v-${high}h${wide}v${high}z`
  }
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${tall}`} width={width} height={tall} aria-hidden="true">
      <path class="spark-good" d={buckets.map(({ succeeded }, i) => bar(i, 0, succeeded)).join('')} />
      <path class="spark-bad" d={buckets.map(({ succeeded, failed }, i) => bar(i, succeeded, failed)).join('')} />
    </svg>
  )
}

/** Periods that charts show: how far back, and by which step. */
export const periods = {
  '1h': { ms: 3_600_000, step: 'minute' },
  '24h': { ms: 86_400_000, step: 'hour' },
  '7d': { ms: 604_800_000, step: 'hour' },
  '30d': { ms: 2_592_000_000, step: 'day' },
} as const
export type Period = keyof typeof periods

export function periodOf(text: string | null): Period {
  return text !== null && Object.hasOwn(periods, text) ? (text as Period) : '24h'
}

/** The parameters by which statistics of a period are asked. */
export function statsQuery(period: Period): { readonly from: number; readonly step: string } {
  const { ms, step } = periods[period]
  // To the minute, so that parts of a view that ask for the same share a request.
  return { from: Math.floor((Date.now() - ms) / 60_000) * 60_000, step }
}

/** Sums of all buckets. Percentiles are those of the bucket with the most tries, which says most. */
export function sums(buckets: readonly Bucket[]) {
  const add = (of: (bucket: Bucket) => number) => buckets.reduce((sum, bucket) => sum + of(bucket), 0)
  const succeeded = add((bucket) => bucket.succeeded)
  const failed = add((bucket) => bucket.failed)
  const worst = (of: (bucket: Bucket) => number | null) =>
    buckets.reduce<number | null>((max, bucket) => {
      const value = of(bucket)
      return value === null ? max : Math.max(max ?? 0, value)
    }, null)
  return {
    succeeded,
    failed,
    exhausted: add((bucket) => bucket.exhausted),
    canceled: add((bucket) => bucket.canceled),
    tries: succeeded + failed,
    rate: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
    p50: worst((bucket) => bucket.p50),
    p95: worst((bucket) => bucket.p95),
  }
}
