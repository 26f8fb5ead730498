/** What a suite is run on: a fresh, empty namespace, and how to let go of it. */
export interface Opened<Subject> {
  readonly subject: Subject
  close(): Promise<void>
}

/** One promise of a contract. `run` throws when the promise is broken. Cases run in any order, and side by side. */
export interface ContractCase<Subject> {
  readonly name: string
  run(open: () => Promise<Opened<Subject>>): Promise<void>
}

/**
 * A suite as plain data, for any test runner:
 * `for (const { name, run } of queueContract) test(name, () => run(async () => ({ subject: myQueue(), close })))`.
 */
export type Contract<Subject> = readonly ContractCase<Subject>[]

/** A case that opens a namespace, and closes it however the case ends. */
export function promise<Subject>(name: string, check: (subject: Subject) => Promise<void>): ContractCase<Subject> {
  return {
    name,
    async run(open) {
      const { subject, close } = await open()
      try {
        await check(subject)
      } finally {
        await close()
      }
    },
  }
}
