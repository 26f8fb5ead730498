import type { Operation, OperationFunctions, OperationName } from './operation.ts'
import { operations } from './table.ts'

/**
 * Function of an operation. The arguments are workspace, id, input, query: those that the operation has, in this order.
 */
export type Call = (...args: unknown[]) => Promise<unknown>

/** A function for each operation, by noun and verb. */
export function functionsOf(make: (name: OperationName, operation: Operation) => Call): OperationFunctions {
  const nouns: Record<string, Record<string, Call>> = {}
  const alone: Record<string, Call> = {}
  for (const name of Object.keys(operations) as OperationName[]) {
    const [noun = '', verb] = name.split('.')
    const call = make(name, operations[name])
    if (verb === undefined) alone[noun] = call
    else nouns[noun] = { ...nouns[noun], [verb]: call }
  }
  return { ...nouns, ...alone } as object as OperationFunctions // the table has every function of the interface: see table.ts
}

/** The function of an operation among functions by noun and verb. */
export function functionOf(functions: object, name: OperationName): Call {
  const [noun = '', verb] = name.split('.')
  // Who passes functions has all of them, by the types of surface/.
  if (verb === undefined) return (functions as Record<string, Call>)[noun]!
  return (functions as Record<string, Record<string, Call>>)[noun]![verb]!
}

/** The name of a query parameter in the options of a function: `dry_run` is `dryRun`. */
export function optionName(parameter: string): string {
  return parameter.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
