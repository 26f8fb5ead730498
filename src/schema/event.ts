import * as v from 'valibot'

import type { PosthornError } from '../errors.ts'
import { isPlainObject, keywords, object, orNull, readOnly, text, textLength } from './fields.ts'
import { id, type Millis, type Input } from './shared.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u001f\u007f-\u009f]/

export const eventType = text({
  min: 1,
  max: 255,
  rule: (value) => (control.test(value) ? 'value must not contain control characters' : null),
  pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]*$`,
})

/** What a client may publish through the admin API and `events.create`. */
export const eventInput = object({
  id: orNull(id),
  event_type: eventType,
  data: v.pipe(
    v.custom<unknown>(
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
export type EventInput = Input<typeof eventInput>

/** What a gateway request holds once its plugins have run. */
export const gatewayInput = object({
  event_type: eventType,
  data: v.custom<unknown>((value) => value !== undefined, 'required field missing'),
  unique_id: orNull(text({ min: 1, rule: (value) => (textLength(value) > 50 ? 'length must be at most 50' : null) })),
})

/** An event as hosts see it. */
export interface Event<Data = unknown> {
  readonly id: string
  readonly event_type: string
  readonly data: Data
  /** When the event was accepted. */
  readonly ingested_at: Millis
  /** Unique in the workspace when not null: a second event with it is not stored. */
  readonly unique_id: string | null
  readonly created_at: Millis
  readonly updated_at: Millis
}

/** What `events.create` answers: the event, and whether this call stored the event. */
export type PublishedEvent<Data = unknown> = Event<Data> & {
  /** False when the `unique_id` was seen before: then the event is the one that was stored. */
  readonly created: boolean
}

/** The most events of one `events.createMany`. */
export const mostOfBatch = 500

/** What `events.createMany` answers for one event of its list. */
export type PublishAnswer =
  | { readonly event: Event; readonly created: boolean; readonly error?: undefined }
  | { readonly error: PosthornError; readonly event?: undefined; readonly created?: undefined }

/** An event as it is stored and sent: `data` is its text, byte for byte as received. */
export type StoredEvent = Event<string>
