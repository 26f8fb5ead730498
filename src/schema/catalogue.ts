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

/** Event types and the schemas of their `data`. Data is checked as it is and sent as it is: what a schema transforms is not kept. */
export type EventCatalogue = Readonly<Record<string, EventSchema>>

type DataOf<Schema> = Schema extends EventSchema<infer Input> ? Input : never

/** What may be published: any event, or those of the catalogue where there is one. */
export type CatalogueEvent<Events extends EventCatalogue> = string extends keyof Events
  ? EventInput
  : {
      [Name in keyof Events & string]: Omit<EventInput, 'event_type' | 'data'> & {
        readonly event_type: Name
        readonly data: DataOf<Events[Name]> | JsonText
      }
    }[keyof Events & string]
