import type { KeyedRequest } from '../../contracts/storage/keyed-requests.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { start } from './rows.ts'

const day = 86_400_000

const request = (token: string, more: Partial<KeyedRequest> = {}): KeyedRequest => ({
  workspace_id: 'w',
  key: 'k',
  hash: 'one',
  token,
  begun_at: start,
  lease_until: start + 1000,
  note: `of ${token}`,
  ...more,
})

export const keyedRequestCases: Contract<Storage> = [
  promise('of calls with one key at once a single one gets it', async ({ keyedRequests }) => {
    const calls = Array.from({ length: 32 }, (_, i) => keyedRequests.take(request(`t${i}`), start - day))
    const tokens = (await Promise.all(calls)).map(({ token }) => token)
    equal(new Set(tokens).size, 1, 'holders')
    const other = request('other', { workspace_id: '', lease_until: start + 5 })
    equal(await keyedRequests.take(other, start - day), other, 'the same key elsewhere')
  }),

  promise('an answered key stays as it is until it is too old', async ({ keyedRequests }) => {
    const first = request('first')
    equal(await keyedRequests.take(first, start - day), first, 'taken')
    await keyedRequests.update({ ...request('stranger'), lease_until: null, note: 'theirs' })
    await keyedRequests.update({ ...first, lease_until: null, note: 'answer' })
    const answered = { ...first, lease_until: null, note: 'answer' }
    const later = request('later', { begun_at: start + day, lease_until: start + day + 1000 })
    equal(await keyedRequests.take(later, start), answered, 'a day later')
    equal(await keyedRequests.take({ ...later, hash: 'two' }, start), answered, 'with another hash')
    equal(await keyedRequests.take({ ...later, hash: 'two' }, start + 1), { ...later, hash: 'two' }, 'too old')
  }),

  promise('a lease that ended passes to the next call with that hash, which gets the note', async (storage) => {
    const { keyedRequests } = storage
    const first = request('first')
    await keyedRequests.take(first, start - day)
    const early = request('early', { begun_at: start + 999, lease_until: start + 1999 })
    equal(await keyedRequests.take(early, start - day), first, 'while the lease lasts')
    const next = request('next', { begun_at: start + 1000, lease_until: start + 2000 })
    equal(await keyedRequests.take({ ...next, hash: 'two' }, start - day), first, 'with another hash')
    const passed = { ...first, token: 'next', lease_until: start + 2000 }
    equal(await keyedRequests.take(next, start - day), passed, 'after it')
    await keyedRequests.update({ ...first, lease_until: null, note: 'late' })
    await keyedRequests.release(first)
    equal(await keyedRequests.take(early, start - day), passed, 'the first has it no more')
  }),

  promise('a released key is new, and old ones are forgotten', async ({ keyedRequests }) => {
    await keyedRequests.take(request('first'), start - day)
    await keyedRequests.release(request('first'))
    const second = request('second', { hash: 'two', begun_at: start + 5 })
    equal(await keyedRequests.take(second, start - day), second, 'released')
    while ((await keyedRequests.forget(start + 5, 1)) > 0);
    equal((await keyedRequests.take(request('third', { begun_at: start + 6 }), start)).token, 'second', 'not old')
    while ((await keyedRequests.forget(start + 6, 1)) > 0);
    equal((await keyedRequests.take(request('third', { begun_at: start + 6 }), start + 6)).token, 'third', 'forgotten')
  }),
]
