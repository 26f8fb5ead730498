import assert from 'node:assert/strict'

export const token = 'correct-horse-battery-staple'

/**
 * Uses a host as its clients would: the administrative API behind the host's authentication, the gateway open, the
 * status on a route of the host. `prefix` stands before all three.
 */
export async function useHost(base: string, { prefix = '' } = {}): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const admin = (path: string, init: RequestInit = {}) => fetch(`${base}${prefix}/admin${path}`, { headers, ...init })
  const post = async (path: string, body: unknown) => {
    const answer = await admin(path, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(answer.status, 201, await answer.clone().text())
  }

  for (const authorization of ['', 'Bearer wrong', 'Bearer undefined']) {
    const refused = await admin('/endpoints', { headers: { authorization } })
    assert.ok([400, 401].includes(refused.status), `without authentication: ${refused.status}`)
  }

  for (const name of ['one', 'two']) {
    await post('/endpoints', { name, request: { url: `https://${name}.example/` }, events: ['parcel.*'] })
  }
  await post('/sources', { name: 'orders', config: { http: { path: '/orders' } } })
  const page = (await (await admin('/endpoints?limit=1')).json()) as { next: string }
  assert.ok(page.next.startsWith(`${prefix}/admin/endpoints?`), page.next)
  const rest = (await (await fetch(`${base}${page.next}`, { headers })).json()) as { data: { name: string }[] }
  assert.deepEqual(
    rest.data.map(({ name }) => name),
    ['one'],
  )
  const refused = await admin('/endpoints', { method: 'POST', body: '{}' })
  assert.equal(refused.status, 400)

  const data = '{"n":12345678901234567890,"to":"Genève"}'
  const accepted = await fetch(`${base}${prefix}/in/orders`, {
    method: 'POST',
    body: `{"event_type":"order.created","data":${data}}`,
  })
  assert.equal(accepted.status, 200)
  const id = accepted.headers.get('webhook-event-id')
  const event = await (await admin(`/events/${id}`)).text()
  assert.ok(event.includes(data), event)
  assert.equal((await fetch(`${base}${prefix}/in/nowhere`, { method: 'POST' })).status, 404)

  const status = (await (await fetch(`${base}${prefix}/status`)).json()) as { inbound_requests: number }
  assert.equal(status.inbound_requests, 2)
}
