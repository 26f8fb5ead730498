import type { Claim, Job, Queue } from '../../src/contracts/queue.ts'
import type { Access, Group, KeptJob, State } from './state.ts'
import { add, ascending, first, remove, scan, sorted } from './sorted.ts'

/** The queue over its part of the state. */
export function memoryQueue(access: Access, onAdded?: Queue['onAdded']): Queue {
  return {
    add: (jobs) => access.write((state) => addJobs(state, jobs)),
    complete: (claims) => access.write((state) => completeJobs(state, claims)),

    claim: ({ limit, cap, busy, leaseMs, now }) =>
      access.write((state) => {
        const queue = state.queue
        lapse(state, now)
        wake(state, now)
        const claims: Claim[] = []
        const visited: string[] = []
        scan(queue.ready, (due, id) => {
          if (due > now || claims.length >= limit) return false
          const name = queue.heads.get(id)! // of every position in `ready`
          const slots: unknown = busy[name]
          const allowed = cap - (typeof slots === 'number' ? slots : 0) // a group may be called `constructor`
          if (allowed <= 0) return true
          visited.push(name)
          const taken = oldest(queue.groups.get(name)!, now, Math.min(allowed, limit - claims.length))
          for (const jobId of taken) claims.push(hold(state, queue.jobs.get(jobId)!, now + leaseMs))
          return true
        })
        for (const name of visited) place(state, name)
        return claims
      }),

    extend: (claims, until) =>
      access.write((state) => {
        const lost: string[] = []
        for (const claim of claims) {
          const kept = heldBy(state, claim)
          if (kept === undefined) {
            lost.push(claim.id)
            continue
          }
          takeOut(state, kept)
          kept.heldUntil = until
          add(state.queue.held, [until, claim.id])
        }
        return lost
      }),

    release: (claims) =>
      access.write((state) => {
        for (const claim of claims) {
          const kept = heldBy(state, claim)
          if (kept === undefined) continue
          takeOut(state, kept)
          kept.token = null
          wait(state, kept)
        }
        if (claims.length > 0) state.news.jobs = true
      }),

    pause: (groups) =>
      access.write((state) => {
        for (const { group: name, until } of groups) {
          const group = groupOf(state, name)
          group.pausedUntil = Math.max(group.pausedUntil, until)
          place(state, name)
        }
      }),

    pausedUntil: (group, now) =>
      access.read(({ queue }) => {
        const until = queue.groups.get(group)?.pausedUntil ?? 0
        return until > now ? until : null
      }),

    stats: (now) =>
      access.read((state) => {
        const { queue } = state
        let oldestDueAt: number | null = null
        const consider = (due: number) => {
          if (due <= now && (oldestDueAt === null || due < oldestDueAt)) oldestDueAt = due
        }
        for (const group of queue.groups.values()) {
          const oldestWaiting = first(group.waiting)
          if (oldestWaiting !== undefined) consider(oldestWaiting[0])
        }
        for (const [until, id] of ascending(queue.held)) {
          if (until > now) break
          consider(queue.jobs.get(id)!.job.due_at)
        }
        return { size: queue.jobs.size, oldestDueAt }
      }),

    nextDueAt: () =>
      access.read(({ queue }) => {
        const times: number[] = []
        const ready = first(queue.ready)
        if (ready !== undefined) times.push(ready[0])
        for (const [until, name] of ascending(queue.paused)) {
          const oldestWaiting = first(queue.groups.get(name)!.waiting)
          if (oldestWaiting !== undefined) times.push(Math.max(until, oldestWaiting[0]))
        }
        for (const [until, id] of ascending(queue.held)) {
          const { job } = queue.jobs.get(id)!
          times.push(Math.max(until, job.due_at, queue.groups.get(job.group)?.pausedUntil ?? 0))
        }
        return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
      }),

    ...(onAdded && { onAdded }),
  }
}

/** Adds jobs that are not known yet. Storage calls it in the steps in which it writes attempts. */
export function addJobs(state: State, jobs: readonly Job[]): void {
  for (const { id, group, due_at } of jobs) {
    if (state.queue.jobs.has(id)) continue
    const kept: KeptJob = { job: { id, group, due_at }, token: null, heldUntil: 0 }
    state.queue.jobs.set(id, kept)
    wait(state, kept)
    state.news.jobs = true
  }
}

/** Removes jobs that are held with these tokens. */
export function completeJobs(state: State, claims: readonly Claim[]): void {
  for (const claim of claims) {
    const kept = heldBy(state, claim)
    if (kept === undefined) continue
    takeOut(state, kept)
    state.queue.jobs.delete(claim.id)
  }
}

function groupOf(state: State, name: string): Group {
  let group = state.queue.groups.get(name)
  if (group === undefined) state.queue.groups.set(name, (group = { waiting: sorted(), pausedUntil: 0, head: null }))
  return group
}

/** The job, if this claim's token is the last it was taken with. */
function heldBy(state: State, claim: Claim): KeptJob | undefined {
  const kept = state.queue.jobs.get(claim.id)
  return kept !== undefined && kept.token === claim.token ? kept : undefined
}

function wait(state: State, kept: KeptJob): void {
  const { id, group, due_at } = kept.job
  add(groupOf(state, group).waiting, [due_at, id])
  place(state, group)
}

function hold(state: State, kept: KeptJob, until: number): Claim {
  const { job } = kept
  remove(state.queue.groups.get(job.group)!.waiting, [job.due_at, job.id])
  kept.token = String(++state.token)
  kept.heldUntil = until
  add(state.queue.held, [until, job.id])
  return { id: job.id, group: job.group, due_at: job.due_at, token: kept.token }
}

/** Takes a job out of where it stands: held, or waiting since its hold lapsed. */
function takeOut(state: State, kept: KeptJob): void {
  const { id, group, due_at } = kept.job
  if (remove(state.queue.held, [kept.heldUntil, id])) return
  const around = state.queue.groups.get(group)
  if (around !== undefined && remove(around.waiting, [due_at, id])) place(state, group)
}

/** Files a group under its oldest waiting job, or its pause; forgets it when it has neither. */
function place(state: State, name: string): void {
  const { queue } = state
  const group = groupOf(state, name)
  const before = group.head
  const head = headOf(name, group)
  if (before !== null) {
    if (before.list === head?.list && before.at === head.at && before.id === head.id) return
    remove(queue[before.list], [before.at, before.id])
    if (before.list === 'ready') queue.heads.delete(before.id)
  }
  group.head = head
  if (head === null) queue.groups.delete(name)
  else add(queue[head.list], [head.at, head.id])
  if (head?.list === 'ready') queue.heads.set(head.id, name)
}

function headOf(name: string, { pausedUntil, waiting }: Group): Group['head'] {
  if (pausedUntil > 0) return { list: 'paused', at: pausedUntil, id: name }
  const oldestWaiting = first(waiting)
  return oldestWaiting === undefined ? null : { list: 'ready', at: oldestWaiting[0], id: oldestWaiting[1] }
}

/** Up to `count` due jobs of a group, oldest first. */
function oldest(group: Group, now: number, count: number): string[] {
  const ids: string[] = []
  scan(group.waiting, (due, id) => due <= now && ids.push(id) < count)
  return ids
}

/** Lets jobs whose lease has ended wait again. Their tokens stay good until somebody takes them. */
function lapse(state: State, now: number): void {
  const { held, jobs } = state.queue
  for (let next = first(held); next !== undefined && next[0] <= now; next = first(held)) {
    remove(held, next)
    wait(state, jobs.get(next[1])!)
  }
}

/** Ends pauses whose time has come. */
function wake(state: State, now: number): void {
  const { paused, groups } = state.queue
  for (let next = first(paused); next !== undefined && next[0] <= now; next = first(paused)) {
    groups.get(next[1])!.pausedUntil = 0
    place(state, next[1])
  }
}
