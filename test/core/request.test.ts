import { describe, expect, test } from 'vitest'

import { headerText, identified, outboundRequest, requestProblem } from '../../src/core/request.ts'
import { attemptRow, endpointRow, eventRow } from '../support/rows.ts'

describe('a delivery', () => {
  test('carries the event data as it is, and our headers', () => {
    const event = eventRow({ data: '{"n":12345678901234567890, "z":"é"}' })
    const request = identified(
      outboundRequest(endpointRow(), event, 'Posthorn/x'),
      event,
      attemptRow({ attempt_number: 3 }),
    )
    expect(request).toEqual({
      method: 'POST',
      url: 'http://receiver.test/hook',
      body: '{"n":12345678901234567890, "z":"é"}',
      headers: {
        'user-agent': 'Posthorn/x',
        'content-type': 'application/json; charset=utf-8',
        'accept-encoding': 'identity',
        'webhook-id': 'event',
        'webhook-event-type': 'order.created',
        'webhook-delivery-id': 'attempt',
        'webhook-attempt': '3',
      },
    })
  })

  test('takes the headers of its endpoint over ours, whatever their case, but not over those that identify it', () => {
    const headers = { 'User-Agent': 'Mine/1', 'X-Team': 'ops', 'Webhook-Id': 'forged' }
    const endpoint = endpointRow({ request: { ...endpointRow().request, headers } })
    const request = identified(outboundRequest(endpoint, eventRow(), 'Posthorn/x'), eventRow(), attemptRow())
    expect(request.headers).toMatchObject({ 'user-agent': 'Mine/1', 'x-team': 'ops', 'webhook-id': 'event' })
  })

  test.each(['GET', 'DELETE'] as const)('by %s carries no body', (method) => {
    const endpoint = endpointRow({ request: { ...endpointRow().request, method } })
    expect(outboundRequest(endpoint, eventRow(), 'x').body).toBeNull()
  })

  test('with a header that a plugin may not set is told', () => {
    const request = outboundRequest(endpointRow(), eventRow(), 'x')
    const withHeader = (name: string, value: string) =>
      requestProblem({ ...request, headers: { [name]: value } }, request)
    expect(requestProblem(request, request)).toBeNull()
    expect(withHeader('host', 'evil')).toBe('header cannot be set: host')
    expect(withHeader('x-a', 'a\r\nb: c')).toBe('invalid header value: x-a')
    expect(withHeader('x a', 'b')).toBe('invalid header name: x a')
    expect(withHeader('X-A', 'b')).toBe('header X-A is not lower-case')
  })
})

test.each([
  ['order.created', 'order.created'],
  ['50%', '50%25'],
  ['a b', 'a%20b'],
  ['größe', 'gr%C3%B6%C3%9Fe'],
  ['😀', '%F0%9F%98%80'],
])('the event type %s is sent as %s', (eventType, expected) => {
  expect(headerText(eventType)).toBe(expected)
})
