import type { Context } from '../../context.ts'
import { generateSigningKey } from '../../core/ed25519.ts'
import { base64Of } from '../../core/encoding.ts'
import { alive, configOfSecrets, rotated, secretsOf, type SigningSecret } from '../../core/expiring-secrets.ts'
import { standardKey } from '../../core/standard-keys.ts'
import { invalid, notFound, PosthornError } from '../../errors.ts'
import { withWriteLock } from '../../runtime/write-lock.ts'
import { parse } from '../../schema/parse.ts'
import type { Plugin } from '../../schema/plugin.ts'
import { rotateInput } from '../../schema/rotate-secret.ts'
import type { EndpointSecret } from '../../schema/secrets.ts'
import { idPattern } from '../../schema/shared.ts'
import { completeConfig } from '../plugins.ts'
import type { EndpointService } from '../../surface/endpoints.ts'

const maxAlive = 5

/** How a kind of signature plugin holds its secrets. */
interface Holder {
  readonly secretsOf: (config: Plugin['config']) => readonly SigningSecret[]
  readonly configOf: (secrets: readonly SigningSecret[]) => Readonly<Record<string, unknown>>
  readonly overlaps: boolean
}

/** By the names of the kinds. Where an endpoint has both, the first kind counts. */
const holders: Readonly<Record<string, Holder>> = {
  'standard-webhooks': { secretsOf, configOf: (secrets) => ({ secrets: configOfSecrets(secrets) }), overlaps: true },
  'webhookx-signature': {
    secretsOf: ({ signing_secret }) => [{ secret: String(signing_secret), expires_at: null }],
    configOf: ([first]) => ({ signing_secret: first?.secret }),
    overlaps: false,
  },
}

/** Shows the secret that signs an endpoint's deliveries, and replaces it. */
export function endpointSecretService(ctx: Context): Pick<EndpointService, 'secret' | 'rotateSecret'> {
  const { secrets, storage } = ctx

  async function signatureOf(workspaceId: string, id: string) {
    if (!idPattern.test(id) || (await storage.endpoints.get(workspaceId, id)) === null) throw notFound()
    for (const [name, holder] of Object.entries(holders)) {
      const page = { limit: 1, page: null, after: null, before: null, descending: false }
      const [row] = (await storage.plugins.list(workspaceId, { ...page, endpoint_id: id, name })).rows
      const found = row && (await storage.plugins.get(workspaceId, row.id))
      if (found) return { ...found, holder }
    }
    throw new PosthornError('validation', 'the endpoint has no signature plugin')
  }

  return {
    async secret(workspaceId, id) {
      const { row, holder } = await signatureOf(workspaceId, id)
      const { config } = await secrets.opened(workspaceId, 'plugins', row)
      return answerOf(alive(holder.secretsOf(config), ctx.clock.now()))
    },

    async rotateSecret(workspaceId, id, input = {}) {
      const { overlap_seconds, secret: given } = parse(rotateInput, input)
      return await withWriteLock<EndpointSecret>(storage, workspaceId, async () => {
        const { row, revision, holder } = await signatureOf(workspaceId, id)
        if (!holder.overlaps && overlap_seconds !== 0) {
          throw invalid({ overlap_seconds: `value must be 0: ${row.name} holds one secret` })
        }
        const readable = await secrets.opened(workspaceId, 'plugins', row)
        const now = ctx.clock.now()
        const before = alive(holder.secretsOf(readable.config), now)
        const secret = await newSecret(ctx, row.name, before, given)
        const after = holder.overlaps
          ? rotated(before, secret, now, overlap_seconds * 1000)
          : [{ secret, expires_at: null }]
        if (after.length > maxAlive) {
          throw invalid({ overlap_seconds: `at most ${maxAlive} secrets may be alive: wait, or pass 0` })
        }
        const config = await checkedConfig(ctx, readable, holder.configOf(after), workspaceId)
        const plugin = { ...readable, config, updated_at: now }
        const sealed = await secrets.sealed(workspaceId, 'plugins', plugin, { stored: row, readable })
        const outcome = await storage.plugins.update(workspaceId, sealed, revision)
        if (outcome === 'missing') throw notFound()
        // Only the config changed: this cannot violate a rule about other rows.
        return outcome === 'written' ? answerOf(holder.secretsOf(config)) : 'conflict'
      })
    },
  }
}

/** The secret as it will be stored; `given`, or a new secret, of the kind of key that signs now. */
async function newSecret(
  ctx: Context,
  name: string,
  before: readonly SigningSecret[],
  given: string | undefined,
): Promise<string> {
  const lasting = before.find(({ expires_at }) => expires_at === null)?.secret ?? ''
  const isStandard = name === 'standard-webhooks'
  const kind = isStandard ? standardKey(lasting)?.kind : undefined
  if (given !== undefined) {
    if (isStandard && standardKey(given)?.kind !== kind) {
      throw invalid({ secret: `value must be ${kind === 'signing' ? 'whsk_' : 'whsec_'} followed by base64, as now` })
    }
    return given
  }
  if (kind === 'signing') return `whsk_${base64Of(await generateSigningKey(ctx.platform.randomBytes(32)))}`
  const filled = ctx.plugins.get(name)?.fill?.({}, ctx.platform) ?? {}
  return isStandard ? (secretsOf(filled)[0]?.secret ?? '') : String(filled['signing_secret'])
}

async function checkedConfig(
  ctx: Context,
  { name, config: before }: Plugin,
  changed: Readonly<Record<string, unknown>>,
  workspaceId: string,
): Promise<Plugin['config']> {
  const kind = ctx.plugins.get(name)
  if (kind === undefined) throw new PosthornError('internal', `the plugin ${name} is not registered`)
  const config = await completeConfig(ctx, kind, { ...before, ...changed }, null, workspaceId)
  if (config.ok) return config.value
  throw invalid({ secret: 'value must be a secret that the signature plugin takes' })
}

function answerOf(secrets: readonly SigningSecret[]): EndpointSecret {
  const lasting = secrets.find(({ expires_at }) => expires_at === null) ?? secrets[0]
  return { secret: lasting?.secret ?? '', secrets }
}
