import { expect, test } from 'vitest'

import type { Contract, Opened } from '../../src/testing/contract.ts'

/** Makes every case of a contract a test. */
export function promises<Subject>(contract: Contract<Subject>, open: () => Promise<Opened<Subject>>): void {
  test.for(contract.map(({ name, run }) => [name, run] as const))('%s', async ([, run]) => {
    await expect(run(open)).resolves.toBeUndefined()
  })
}
