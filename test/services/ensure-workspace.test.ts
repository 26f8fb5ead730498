import { expect, test } from 'vitest'

import { createPosthorn } from '../../src/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { onEveryEngine } from '../support/engines.ts'
import { api } from '../http/api.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const instance = (storage: Storage) => createPosthorn({ storage, logger: silent })

onEveryEngine((fresh) => {
  test('32 callers in two processes at once make one workspace, and all get it', async () => {
    const storage = await fresh()
    const posthorns = [instance(storage), instance(storage)]
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, i) => posthorns[i % 2]!.workspaces.ensure({ id: 'acme', name: 'Acme' })),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ id: 'acme', name: 'Acme', description: null, metadata: {} })
    const { data } = await posthorns[0]!.workspaces.list()
    expect(data.map(({ id }) => id).toSorted()).toEqual(['acme', 'default'])
  })

  test('a workspace that is there stays as it is', async () => {
    const posthorn = instance(await fresh())
    const made = await posthorn.workspaces.create({ id: 'acme', name: 'Acme', metadata: { plan: 'pro' } })
    expect(await posthorn.workspaces.ensure({ id: 'acme', name: 'Another name' })).toEqual(made)
    expect(await posthorn.workspaces.ensure({ id: 'default' })).toMatchObject({ id: 'default', name: 'default' })
  })

  test('a name that another workspace has is refused, and nothing is created', async () => {
    const posthorn = instance(await fresh())
    await posthorn.workspaces.create({ id: 'acme', name: 'Acme' })
    await expect(posthorn.workspaces.ensure({ id: 'beta', name: 'Acme' })).rejects.toMatchObject({
      code: 'unique_violation',
    })
    await expect(posthorn.workspaces.get('beta')).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('over HTTP 201 tells that the workspace was created, 200 that it was there', async () => {
  const { call } = api()
  const created = await call('POST', '/workspaces/ensure', { id: 'acme', name: 'Acme' })
  const found = await call('POST', '/workspaces/ensure', { id: 'acme' })
  expect([created.status, found.status]).toEqual([201, 200])
  expect(found.body).toEqual(created.body)
  const refused = await call('POST', '/workspaces/ensure', { name: 'Acme' })
  expect([refused.status, refused.body.error.fields]).toEqual([400, { id: 'required field missing' }])
})
