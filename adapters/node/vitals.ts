import { PerformanceObserver } from 'node:perf_hooks'

import type { Vitals } from '../../src/contracts/platform.ts'

let collections = 0
let isCounting = false

/** Starts to count garbage collections, where the runtime tells of them. It does not keep the process alive. */
export function countCollections(): void {
  if (isCounting) return
  isCounting = true
  const { supportedEntryTypes } = PerformanceObserver as { supportedEntryTypes?: readonly string[] } // missing in the types
  if (!supportedEntryTypes?.includes('gc')) return
  new PerformanceObserver((list) => {
    collections += list.getEntries().length
  }).observe({ entryTypes: ['gc'] })
}

/** What the process reports about itself. No runtime counts the objects of the heap, so that figure is 0. */
export function vitals(): Vitals {
  const { heapUsed, heapTotal, rss } = process.memoryUsage()
  return {
    version: runtimeVersion(),
    handles: process.getActiveResourcesInfo?.().length ?? 0,
    heapUsed,
    heapTotal,
    residentSet: rss,
    heapObjects: 0,
    collections,
  }
}

function runtimeVersion(): string {
  const { deno, bun } = process.versions as { deno?: string; bun?: string } // set by those runtimes only
  if (deno !== undefined) return `deno ${deno}`
  if (bun !== undefined) return `bun ${bun}`
  return `node ${process.version}`
}
