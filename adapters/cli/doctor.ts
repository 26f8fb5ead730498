import { createPosthorn } from 'posthorn'
import type { Storage } from 'posthorn/contracts'

import { backlogCheck } from './checks/backlog.ts'
import { type Check, type Finding, ok, problem, type Subject } from './checks/check.ts'
import { clockCheck } from './checks/clock.ts'
import { pluginsCheck } from './checks/plugins.ts'
import { poolCheck } from './checks/pool.ts'
import { redisCheck } from './checks/redis.ts'
import { retentionCheck } from './checks/retention.ts'
import { schemaCheck } from './checks/schema.ts'
import { settingsFindings } from './checks/settings.ts'
import { openEngine } from './engine.ts'
import { sentenceOf } from './failure.ts'
import { pluginKinds } from './plugin-kinds.ts'
import type { ReadSettings } from './read-settings.ts'

/** Checks that need an engine which answers and a schema which is up to date. */
const checks: readonly Check[] = [backlogCheck, pluginsCheck, retentionCheck]

/** Looks at everything that the settings name. It changes nothing. */
export async function examine(read: ReadSettings, now: () => number): Promise<readonly Finding[]> {
  const found = [...settingsFindings(read)]
  const engine = await openEngine(read.settings, read.code)
  const { storage } = engine.options
  if (storage === undefined) {
    const message = 'No engine is set: everything is kept in memory, and nothing survives a restart.'
    return [...found, problem('storage', message, 'Set DATABASE_URL or REDIS_URL.')]
  }
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const { kinds } = await pluginKinds(read.settings.plugins).catch(() => ({ kinds: [] }))
  const posthorn = createPosthorn({ ...engine.options, plugins: kinds, logger: silent })
  const subject: Subject = { ...read, engine, storage, posthorn, now }
  try {
    const reached = await reach(storage)
    found.push(reached)
    if (reached.level === 'problem') return found
    for (const check of [clockCheck, poolCheck, schemaCheck, redisCheck]) found.push(...(await looked(check, subject)))
    if (found.some(({ check, level }) => level === 'problem' && (check === 'schema' || check === 'rights')))
      return found
    for (const check of checks) found.push(...(await looked(check, subject)))
    return found
  } finally {
    await posthorn.stop({ timeoutMs: 1_000 })
  }
}

async function reach(storage: Storage): Promise<Finding> {
  try {
    await storage.time()
    return ok('storage', `${storage.name} answers.`)
  } catch (error) {
    return problem(
      'storage',
      `${storage.name} does not answer: ${sentenceOf(error)}.`,
      'Check its url, and that it runs.',
    )
  }
}

/** A check that cannot look is a problem too. */
async function looked(check: Check, subject: Subject): Promise<readonly Finding[]> {
  try {
    return await check(subject)
  } catch (error) {
    const name = check.name.replace('Check', '')
    return [
      problem(name, `It could not be looked at: ${sentenceOf(error)}.`, 'Mend what the sentence says, and look again.'),
    ]
  }
}
