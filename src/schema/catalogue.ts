import type { Event, EventInputOf } from './event.ts'

/** A schema of any library that follows Standard Schema (https://standardschema.dev, version 1): valibot, zod, arktype and others. */
export interface EventSchema<Input = unknown> {
  /** The schema, as Standard Schema has it. */
  readonly '~standard': EventSchemaProps<Input>
}

/** What a schema of an event's data says of itself and does, as Standard Schema has it. */
export interface EventSchemaProps<Input> {
  /** The version of Standard Schema. */
  readonly version: 1
  /** The library of the schema. */
  readonly vendor: string
  /** Judges a value. */
  readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
  /** What goes in, for types alone. */
  readonly types?: { readonly input: Input; readonly output: unknown } | undefined
  /** Standard JSON Schema, where the library has it. */
  readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown> }
}

/** What a schema answers. */
export type SchemaResult = {
  /** Why the value was refused; missing where it was taken. */
  readonly issues?: readonly SchemaIssue[] | undefined
}

/** Why a value was refused. */
export interface SchemaIssue {
  /** The reason. */
  readonly message: string
  /** Where, from the outside in. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A schema of an event's `data`, and what people read about the event type. */
export interface EventEntry<Input = unknown> {
  /** Judges the data. */
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

/**
 * Event types and the schemas of their `data`. Data is checked as it is and sent as it is: what a schema transforms is
 * dropped.
 */
export type EventCatalogue = Readonly<Record<string, EventSchema | EventEntry>>

/** An event type of the catalogue as `eventTypes.list` answers it. */
export interface EventType {
  /** The name, as events have it. */
  readonly event_type: string
  /** What the event means, as text for people; null where the host gave none. */
  readonly description: string | null
  /** Under which heading the event type is listed; null where the host gave none. */
  readonly group: string | null
  /** Whether endpoints had better not begin to use the event type. */
  readonly deprecated: boolean
  /** Whether only operators see the event type. */
  readonly hidden: boolean
  /** Data of such an event; null where the host gave none. */
  readonly example: unknown
  /**
   * The JSON Schema (draft 2020-12) of the event's data; null where the library of the schema cannot make a JSON
   * Schema.
   */
  readonly schema: Readonly<Record<string, unknown>> | null
  /** Attempts of such events in the workspace that ended in the last 24 hours, whole hours. */
  readonly volume_24h: number
}

/** Events of any type with any data: what a host without a catalogue has. */
export type AnyEvents = Readonly<Record<string, unknown>>

/**
 * What may be published: any event or, with a catalogue, the catalogue's events. A host may write the catalogue by
 * hand: `EventInput<{ 'invoice.paid': Invoice }>`.
 */
export type EventInput<Catalogue extends object = AnyEvents> = {
  [Type in keyof Catalogue & string]: EventInputOf<Type, DataOf<Catalogue[Type]>>
}[keyof Catalogue & string]

type DataOf<Data> = unknown extends Data ? object : Data

/**
 * What is read: any event or, with a catalogue, the catalogue's events. Without `strictEvents` events of other types
 * may have come through the admin API and the gateway.
 */
export type CatalogueEvent<Catalogue extends object = AnyEvents> = {
  [Type in keyof Catalogue & string]: Event<Catalogue[Type], Type>
}[keyof Catalogue & string]

/** What an endpoint may ask for: a type of the catalogue or a pattern with an asterisk; any text without a catalogue. */
export type EventPattern<Catalogue extends object = AnyEvents> = (keyof Catalogue & string) | `${string}*${string}`
