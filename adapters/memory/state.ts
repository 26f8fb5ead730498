import type { Message } from '../../src/contracts/inbox.ts'
import type { Job } from '../../src/contracts/queue.ts'
import type { Change } from '../../src/contracts/storage/configuration.ts'
import type { StoredAttempt } from '../../src/contracts/storage/attempts.ts'
import type { Cause } from '../../src/contracts/storage/causes.ts'
import type { KeyedRequest } from '../../src/contracts/storage/keyed-requests.ts'
import type { Process } from '../../src/contracts/storage/processes.ts'
import type { Counts, Streak } from '../../src/contracts/storage/statistics.ts'
import type { Note } from '../../src/core/notes.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import type { Source } from '../../src/schema/source.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import { sorted, type Sorted } from './sorted.ts'

/** A workspace with the ids of its rows, in order. After the deletion `alive` is false, until the workspace is purged. */
export interface Room {
  row: Workspace
  /** The revision at which `row` was last written. */
  rowRevision: number
  /** The revision of the workspace: raised by each write to the workspace or to its configuration. */
  revision: number
  alive: boolean
  readonly endpoints: Sorted
  readonly sources: Sorted
  readonly plugins: Sorted
  /** The event patterns of all endpoints. */
  patterns: number
  readonly events: Sorted
  /** The same by their time. */
  readonly timeline: Sorted
  readonly attempts: Sorted
  readonly eventOfUniqueId: Map<string, string>
  readonly statistics: RoomStatistics
}

/** The sums of a workspace, by time. Those of minutes have no event type. */
export interface RoomStatistics {
  readonly minute: Map<number, Map<string, KeptSum>>
  readonly hour: Map<number, Map<string, KeptSum>>
  readonly day: Map<number, Map<string, KeptSum>>
  /** The hour in which each event type was counted last. */
  readonly types: Map<string, number>
  readonly streaks: Map<string, Streak>
}

export interface KeptSum {
  readonly endpoint_id: string
  readonly event_type: string
  readonly counts: Counts
}

/** A stored configuration row. */
export interface Kept<Row> {
  readonly room: Room
  readonly row: Row
  readonly revision: number
}

export interface KeptEvent {
  readonly room: Room
  readonly event: StoredEvent
  readonly trace: string | undefined
  readonly token: string | undefined
  /** The ids of the event's attempts in order: mostly one. */
  readonly attempts: string[]
  /** How many attempts of the event are open. */
  open: number
}

export interface KeptAttempt {
  /** Attempts never outlive their event. */
  readonly of: KeptEvent
  attempt: StoredAttempt
}

/** A job. A job with a token was taken. It is held while it is in `held`; after that it waits, and the token is good until the next take. */
export interface KeptJob {
  readonly id: string
  readonly due_at: number
  readonly priority: Job['priority']
  readonly group: Group
  token: string | null
  /** Where the job stands in `held`, or stood; -Infinity before the job is held first. */
  heldUntil: number
}

/** The jobs of an endpoint. Things of the queue refer to each other, so that a claim follows them without a search by id. */
export interface Group {
  readonly name: string
  /** Null until a job of the group was added: a pause may come first. */
  line: Line | null
  readonly waiting: Sorted<KeptJob>
  /** How many jobs there are, those that are held included. */
  jobs: number
  /** Where the group stands in `paused`; 0 when it does not. */
  pausedUntil: number
  /** The oldest waiting job, with which the group stands in its line; null when none waits, and during a pause. */
  head: KeptJob | null
}

/** The groups of a workspace. */
export interface Line {
  /** The workspace. */
  readonly id: string
  /** Of the oldest waiting jobs of the groups that have one and are not paused, the first. */
  head: KeptJob | null
  /** The others in order: most lines have one group. */
  others: Sorted<KeptJob> | null
  /** Where the line stands in `turns`; Infinity when no group is ready. */
  turn: number
  /** When the workspace was last served; -Infinity when it was not, as far as anybody remembers. */
  served: number
  /** How many groups refer to the line. */
  groups: number
}

export interface QueueState {
  readonly jobs: Map<string, KeptJob>
  /** Groups that have a job or a pause, by name. */
  readonly groups: Map<string, Group>
  /** Lines by workspace: those with a group, and those that are remembered since they were served. */
  readonly lines: Map<string, Line>
  /** Lines without a group, in the order in which they lost their last; forgotten an hour after they were served. */
  readonly idle: Set<Line>
  /** When to look again for lines to forget. */
  forgetAt: number
  /** The lines that have a group that is ready, by the time of their next turn, or by an earlier time. */
  readonly turns: Sorted<Line>
  /** Names of paused groups, by the end of their pause. */
  readonly paused: Sorted
  /** Ids of held jobs, by the end of their lease. */
  readonly held: Sorted
}

export interface KeptMessage {
  readonly message: Message
  token: string | null
  heldUntil: number
  tries: number
}

export interface InboxState {
  readonly messages: Map<string, KeptMessage>
  /** Waiting messages by workspace. A line is never empty. */
  readonly lines: Map<string, Sorted>
  /** The workspaces that have a line. */
  readonly workspaces: Sorted
  /** The workspace that the last take ended with. */
  last: string
  readonly held: Sorted
  readonly dead: Map<string, { readonly message: Message; readonly reason: string }>
}

export interface KeptNote {
  readonly room: Room
  readonly note: Note
}

/** What is announced once a write stands. */
export interface News {
  readonly changes: Change[]
  jobs: boolean
  messages: boolean
}

/**
 * All that memory keeps. Rows are replaced, never changed in place. It is plain data without functions, so that a
 * transaction can work on a copy.
 */
export interface State {
  /** The counters that revisions and tokens come from. They never repeat, so nothing old is taken for something new. */
  revision: number
  token: number
  readonly rooms: Map<string, Room>
  readonly roomIds: Sorted
  readonly roomOfName: Map<string, string>
  readonly endpoints: Map<string, Kept<Endpoint>>
  readonly sources: Map<string, Kept<Source>>
  readonly plugins: Map<string, Kept<Plugin>>
  /** Ids by the text of each unique key that a configuration row holds. */
  readonly holders: Map<string, string>
  readonly events: Map<string, KeptEvent>
  readonly attempts: Map<string, KeptAttempt>
  /** Open attempts by due time; finished attempts, and events without open attempts, by age. */
  readonly open: Sorted
  readonly finished: Sorted
  readonly idle: Sorted
  /** Deleted workspaces that still have rows. */
  readonly condemned: Room[]
  /** What settlements left to be counted, with the workspace. */
  readonly notes: KeptNote[]
  readonly causes: Map<string, Cause>
  readonly processes: Map<string, Process>
  /** By workspace and key, the oldest first. */
  readonly keyedRequests: Map<string, KeyedRequest>
  /** For each kind of work the start of the period that was taken last. */
  readonly turns: Map<string, number>
  readonly queue: QueueState
  readonly inbox: InboxState
  news: News
}

export function emptyState(): State {
  return {
    revision: 0,
    token: 0,
    rooms: new Map(),
    roomIds: sorted(),
    roomOfName: new Map(),
    endpoints: new Map(),
    sources: new Map(),
    plugins: new Map(),
    holders: new Map(),
    events: new Map(),
    attempts: new Map(),
    open: sorted(),
    finished: sorted(),
    idle: sorted(),
    condemned: [],
    notes: [],
    causes: new Map(),
    processes: new Map(),
    keyedRequests: new Map(),
    turns: new Map(),
    queue: {
      jobs: new Map(),
      groups: new Map(),
      lines: new Map(),
      idle: new Set(),
      forgetAt: 0,
      turns: sorted(),
      paused: sorted(),
      held: sorted(),
    },
    inbox: { messages: new Map(), lines: new Map(), workspaces: sorted(), last: '', held: sorted(), dead: new Map() },
    news: noNews(),
  }
}

export function noNews(): News {
  return { changes: [], jobs: false, messages: false }
}

/** How the nouns reach the state: memory itself at once, a transaction on its copy. */
export interface Access {
  read<Answer>(look: (state: State) => Answer): Promise<Answer>
  /** One atomic step. It waits while another open transaction has written one of `uniqueIds` (see `uniqueIdKey`). */
  write<Answer>(change: (state: State) => Answer, uniqueIds?: readonly string[]): Promise<Answer>
}

/** The same access, whose writes wake nobody. */
export function quiet(access: Access): Access {
  return {
    read: access.read,
    write: (change, uniqueIds) =>
      access.write((state) => {
        const { jobs } = state.news
        const answer = change(state)
        state.news.jobs = jobs
        return answer
      }, uniqueIds),
  }
}

export function uniqueIdKey(workspaceId: string, uniqueId: string): string {
  return JSON.stringify([workspaceId, uniqueId])
}

/** The workspace; undefined when it is unknown or was deleted. */
export function roomOf(state: State, workspaceId: string): Room | undefined {
  return state.rooms.get(workspaceId)
}

/** Raises the workspace's revision for a write, and answers it. */
export function raise(state: State, room: Room): number {
  room.revision = ++state.revision
  state.news.changes.push({ workspaceId: room.row.id })
  return room.revision
}

export function tellRoutes(state: State): void {
  state.news.changes.push('routes')
}
