import type { ServiceFunctions } from '../surface/functions.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A use case: how it is called over HTTP, and the names of the schemas of what goes in and out. */
export interface Operation {
  /** Method and path. `{P}` is `/workspaces/{ws_id}`, or nothing, which means the workspace `default`. */
  readonly http: `${Method} ${'{P}' | ''}/${string}`
  /** The schema of the body. */
  readonly input?: string
  /** Names of query parameters that are arguments of the function, in this order. */
  readonly query?: readonly string[]
  /** Names of query parameters that are members of the function's last argument: `dry_run` is its `dryRun`. */
  readonly options?: readonly string[]
  /** Names of query parameters that are members of that argument too, as text: absent parameters are undefined. */
  readonly texts?: readonly string[]
  /**
   * The schema of the answer by status; `[]` behind the name means a list of them, null no body. An operation with 201 and
   * 200 answers 201 when the row was created, and 200 when the row existed.
   */
  readonly answers: Readonly<Partial<Record<200 | 201 | 204, string | null>>>
  /** Whether the answer is a page of these rows. The parameters are those of the noun in schema/page.ts. */
  readonly list?: true
  /** Names the parameters (`statsParameters` in schema/page.ts) that are the query of the function, where it is no list. */
  readonly asks?: 'stats' | 'instance'
  /**
   * Whether `posthorn.on('change')` tells of a call. Default: of all but GETs. `in clear`: where the caller asked for secrets in
   * clear.
   */
  readonly changes?: boolean | 'in clear'
  /** Whether a host may offer the operation to the customer who owns the workspace. */
  readonly tenant?: true
}

/** Functions that are made of other operations. */
type Derived = 'raw' | 'each'

type AnyCall = (...args: never[]) => unknown

/** The service functions that are operations, by noun. */
export type OperationFunctions = {
  readonly [Noun in keyof ServiceFunctions]: ServiceFunctions[Noun] extends AnyCall
    ? ServiceFunctions[Noun]
    : Omit<ServiceFunctions[Noun], Derived>
}

type NamesOf<Functions> = {
  [Noun in keyof Functions & string]: Functions[Noun] extends AnyCall
    ? Noun
    : `${Noun}.${keyof Functions[Noun] & string}`
}[keyof Functions & string]

/** `endpoints.create`: noun and verb, as `authorize` gets them. An operation that stands alone is a noun: `stats`. */
export type OperationName = NamesOf<OperationFunctions>

type FunctionOf<Name> = Name extends `${infer Noun}.${infer Verb}`
  ? Noun extends keyof OperationFunctions
    ? Verb extends keyof OperationFunctions[Noun]
      ? OperationFunctions[Noun][Verb]
      : never
    : never
  : Name extends keyof OperationFunctions
    ? OperationFunctions[Name]
    : never

/** The arguments that a declaration promises, in their order. */
type ArgumentsOf<Declared extends Operation> = [
  ...(Declared['http'] extends `${string}{P}${string}` ? [workspace: string] : []),
  ...(Declared['http'] extends `${string}{id}${string}` ? [id: string] : []),
  ...(Declared['http'] extends `${string}{event_id}/{endpoint_id}${string}`
    ? [eventId: string, endpointId: string]
    : []),
  ...(Declared extends { readonly input: string } ? [input: never] : []),
  ...(Declared extends { readonly list: true } | { readonly asks: string } ? [query: never] : []),
  ...(Declared extends { readonly query: readonly string[] } ? { [Position in keyof Declared['query']]: string } : []),
  ...(Declared extends { readonly options: readonly string[] } | { readonly texts: readonly string[] }
    ? [options: never]
    : []),
]

type AnswerOf<Declared extends Operation> = Declared extends { readonly answers: { readonly 204: null } }
  ? void
  : Declared extends { readonly list: true }
    ? { readonly data: readonly unknown[] }
    : object

type Fits<Call, Declared extends Operation> = Call extends (
  ...args: ArgumentsOf<Declared>
) => Promise<AnswerOf<Declared>>
  ? Call extends (...args: infer Given) => unknown
    ? Required<Given>['length'] extends ArgumentsOf<Declared>['length']
      ? true
      : false
    : false
  : false

/** The names of the operations whose declaration does not fit the interface: never, or the build fails. */
export type Misfits<Table extends Record<OperationName, Operation>> = {
  [Name in OperationName]: Fits<FunctionOf<Name>, Table[Name]> extends true ? never : Name
}[OperationName]
