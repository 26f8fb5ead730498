import { expect, inject, test } from 'vitest'

import { killShops } from './support/shop.ts'

const url = inject('postgresUrl')

test.skipIf(url === null)(
  'a shop that is killed at random moments has no order without its event, nor the reverse',
  { timeout: 120_000 },
  async () => {
    const { orders, halves, delivered, repeated } = await killShops(url!, { times: 20 }) // skipped where it is null
    expect(orders).toBeGreaterThan(0)
    expect(halves).toBe(0)
    expect(delivered).toBe(orders)
    expect(repeated).toBe(0)
  },
)
