import * as v from 'valibot'

import type { PosthornError } from '../errors.ts'
import { isPlainObject, keywords, object, orNull, readOnly, text, textLength } from './fields.ts'
import type { JsonText } from './json-text.ts'
import { id, type Millis } from './shared.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f]/

export const eventType = text({
  min: 1,
  max: 255,
  rule: (value) => (control.test(value) ? 'value must not contain control characters' : null),
  pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]*$`,
})

export const eventInput = object({
  id: orNull(id),
  event_type: eventType,
  data: v.pipe(
    v.custom<object>(
      (value) => isPlainObject(value),
      ({ input }) =>
        input === undefined
          ? 'required field missing'
          : input === null
            ? 'Value is not nullable'
            : 'value must be an object',
    ),
    keywords({ type: 'object' }),
  ),
  unique_id: orNull(text({ min: 1, max: 50 })),
  ingested_at: readOnly(),
  created_at: readOnly(),
  updated_at: readOnly(),
})

/** An event of one type, as it is published. Null stands for the default. */
export interface EventInputOf<Type extends string, Data> {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`, not used before. Default: a new id, which sorts by time. */
  readonly id?: string | null | undefined
  /** 1 to 255 code points without control characters. Endpoints choose events by it. */
  readonly event_type: Type
  /** What the event says: an object that JSON can say, or a `JsonText`, whose bytes are stored and sent as they are. */
  readonly data: Data | JsonText
  /** 1 to 50 code points: a second event of the workspace with the same key is not stored. Default null. */
  readonly unique_id?: string | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly ingested_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly created_at?: number | null | undefined
  /** Ignored: Posthorn sets this time. */
  readonly updated_at?: number | null | undefined
}

/** What a gateway request holds once the source's plugins have run. */
export const gatewayInput = object({
  event_type: eventType,
  data: v.custom<unknown>((value) => value !== undefined, 'required field missing'),
  unique_id: orNull(text({ min: 1, rule: (value) => (textLength(value) > 50 ? 'length must be at most 50' : null) })),
})

/** An event as hosts see it. */
export interface Event<Data = unknown, Type extends string = string> {
  /** 1 to 64 of `A-Z a-z 0-9 _ : -`. */
  readonly id: string
  /** Type of the event. Endpoints choose events by it. */
  readonly event_type: Type
  /** What the event says. */
  readonly data: Data
  /** When the event was accepted, unix milliseconds. */
  readonly ingested_at: Millis
  /** Unique in the workspace when not null: a second event with it is not stored. */
  readonly unique_id: string | null
  /** When the row was made, unix milliseconds. */
  readonly created_at: Millis
  /** When the row last changed, unix milliseconds. */
  readonly updated_at: Millis
}

/** What `events.create` answers: the event, and whether this call stored the event. */
export type Published<Row = Event> = Row & Publication

/** What publishing tells beside the event. */
export interface Publication {
  /** False when the `unique_id` was seen before: then the event is the stored event. */
  readonly created: boolean
}

/** The most events of one `events.createMany`. */
export const maxBatchSize = 500

/** What `events.createMany` answers for one event of its list. */
export type PublishAnswer<Row = Event> = PublishedEntry<Row> | RefusedEntry

/** An event of the list that was taken. */
export interface PublishedEntry<Row = Event> extends Publication {
  /** The event as it is stored. */
  readonly event: Row
  /** Missing where the event was taken. */
  readonly error?: undefined
}

/** An event of the list that was refused. */
export interface RefusedEntry {
  /** Why the event was refused. */
  readonly error: PosthornError
  /** Missing where the event was refused. */
  readonly event?: undefined
  /** Missing where the event was refused. */
  readonly created?: undefined
}

/** An event as it is stored and sent: `data` is its text, byte for byte as received. */
export type StoredEvent<Type extends string = string> = Event<string, Type>
