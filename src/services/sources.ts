import type { Context } from '../context.ts'
import type { Platform } from '../contracts/platform.ts'
import { withResponseKept } from '../core/webhookx.ts'
import { listParameters } from '../schema/page.ts'
import { parse } from '../schema/parse.ts'
import { type Source, sourceInput } from '../schema/source.ts'
import { type Described, resourceService } from './resources.ts'
import type { SourceUseCases } from './use-cases.ts'

export function sourceService(ctx: Context): Omit<SourceUseCases, 'requests'> {
  return resourceService(ctx, {
    noun: 'sources',
    collection: ctx.storage.sources,
    parameters: listParameters.sources,
    describe(given, existing): Described<Source> {
      const keepsResponse = existing !== null && ctx.settings.compatible === 'webhookx'
      const input = keepsResponse ? withResponseKept(given, existing) : given
      const { id, created_at: _created, updated_at: _updated, plugins: _plugins, ...fields } = parse(sourceInput, input)
      return { id, fields: { ...fields, config: withPath(fields.config, existing, ctx.platform) } }
    },
  })
}

/** A config with a path: the path given, else that of the row before, else a new path that cannot be guessed. */
export function withPath(
  { http }: { readonly http: Omit<Source['config']['http'], 'path'> & { readonly path: string | null } },
  existing: Source | null,
  platform: Platform,
): Source['config'] {
  return { http: { ...http, path: http.path ?? existing?.config.http.path ?? randomPath(platform) } }
}

function randomPath(platform: Platform): string {
  return `/${Array.from(platform.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
