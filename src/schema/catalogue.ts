import type { EventInput } from './event.ts'
import type { JsonText } from './json-text.ts'

/** A schema of any library that follows Standard Schema (https://standardschema.dev, version 1): valibot, zod, arktype and others. */
export interface EventSchema<Input = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    readonly types?: { readonly input: Input; readonly output: unknown } | undefined
    /** Standard JSON Schema, where the library has it. */
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown> }
  }
}

export type SchemaResult = { readonly issues?: readonly SchemaIssue[] | undefined }
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema of an event's `data`, and what people are told of the event type. */
export interface EventEntry<Input = unknown> {
  readonly schema: EventSchema<Input>
  /** What the event means, as text for people. */
  readonly description?: string
  /** Data of such an event: a JSON value. */
  readonly example?: unknown
  /** Whether endpoints had better not begin to use the event type. Default false. */
  readonly deprecated?: boolean
  /** Under which heading the event type is listed. */
  readonly group?: string
  /** Whether only operators see the event type. Default false. */
  readonly hidden?: boolean
}

/** Event types and the schemas of their `data`. Data is checked as it is and sent as it is: what a schema transforms is not kept. */
export type EventCatalogue = Readonly<Record<string, EventSchema | EventEntry>>

/** An event type of the catalogue as `eventTypes.list` answers it. */
export interface EventType {
  readonly event_type: string
  readonly description: string | null
  readonly group: string | null
  readonly deprecated: boolean
  readonly hidden: boolean
  /** Data of such an event; null where the host gave none. */
  readonly example: unknown
  /** The JSON Schema (draft 2020-12) of the event's data; null where the library of the schema cannot tell one. */
  readonly schema: Readonly<Record<string, unknown>> | null
}

type DataOf<Schema> =
  Schema extends EventSchema<infer Input> ? Input : Schema extends EventEntry<infer Input> ? Input : never

/** What may be published: any event, or those of the catalogue where there is one. */
export type CatalogueEvent<Events extends EventCatalogue> = string extends keyof Events
  ? EventInput
  : {
      [Name in keyof Events & string]: Omit<EventInput, 'event_type' | 'data'> & {
        readonly event_type: Name
        readonly data: DataOf<Events[Name]> | JsonText
      }
    }[keyof Events & string]
