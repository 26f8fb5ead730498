import { expect, test, vi } from 'vitest'

import { openTelemetry } from '../../src/otel.ts'

vi.mock('@opentelemetry/api', () => {
  throw new Error("Cannot find package '@opentelemetry/api'")
})

test('without the package the error says what to install', async () => {
  await expect(openTelemetry()).rejects.toMatchObject({
    name: 'PosthornError',
    code: 'internal',
    message: 'posthorn/otel needs: npm install @opentelemetry/api',
  })
})
