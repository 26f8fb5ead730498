import type * as v from 'valibot'
import { expectTypeOf, test } from 'vitest'

import type { basicAuth } from '../../src/plugins/basic-auth.ts'
import type { hmacAuth } from '../../src/plugins/hmac-auth.ts'
import type { keyAuth } from '../../src/plugins/key-auth.ts'
import type { providers } from '../../src/plugins/providers.ts'
import type { standardWebhooks } from '../../src/plugins/standard-webhooks.ts'
import type { webhookxSignature } from '../../src/plugins/webhookx-signature.ts'
import type { PluginKind } from '../../src/contracts/plugin.ts'
import type { EventInputOf } from '../../src/schema/event.ts'
import type { Endpoint, EndpointInput, endpointInput } from '../../src/schema/endpoint.ts'
import type { eventInput } from '../../src/schema/event.ts'
import type { BuiltInPlugins, ProviderConfigs } from '../../src/schema/plugin-configs.ts'
import type { Plugin, PluginWithDefaults, pluginInput } from '../../src/schema/plugin.ts'
import type { RotateInput, rotateInput } from '../../src/schema/rotate-secret.ts'
import type { Source, SourceInput, sourceInput } from '../../src/schema/source.ts'
import type { EnsureWorkspaceInput, ensureWorkspaceInput } from '../../src/schema/workspace.ts'
import type { Workspace, WorkspaceInput, workspaceInput } from '../../src/schema/workspace.ts'
import type { replayInput } from '../../src/services/replay-input.ts'
import type { testInput } from '../../src/services/test-delivery.ts'
import type { eraseInput } from '../../src/services/erase.ts'
import type { EraseInput, ReplayInput } from '../../src/surface/events.ts'
import type { TestInput } from '../../src/surface/endpoints.ts'

// The public interfaces are written by hand. The compiler holds them here against the schemas that check: member by member,
// what may be left out, and their types, both ways. `npm run typecheck` fails where they part.

/** Without the shades of `readonly` and of `undefined`, which schemas do not know. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<Exclude<T[Key], undefined>> }
    : T
type In<Schema extends v.GenericSchema> = Plain<v.InferInput<Schema>>
type Out<Schema extends v.GenericSchema> = Plain<v.InferOutput<Schema>>

/** What the server chooses where a client leaves it out. */
type Chosen = 'id' | 'created_at' | 'updated_at'
/** What the server alone writes of an endpoint that is off. */
type Told = 'disabled_at' | 'disabled_reason' | 'disabled_detail'
type ConfigGiven<Kind> = Kind extends PluginKind<unknown, string, infer Given> ? Plain<Given> : never

test('inputs are what the schemas take', () => {
  expectTypeOf<Plain<WorkspaceInput>>().toEqualTypeOf<In<typeof workspaceInput>>()
  expectTypeOf<Plain<EnsureWorkspaceInput>>().toEqualTypeOf<In<typeof ensureWorkspaceInput>>()
  expectTypeOf<Plain<EndpointInput>>().toEqualTypeOf<Omit<In<typeof endpointInput>, 'plugins'>>()
  expectTypeOf<Plain<SourceInput>>().toEqualTypeOf<Omit<In<typeof sourceInput>, 'plugins'>>()
  expectTypeOf<Omit<Plain<PluginWithDefaults<string, object>>, 'name' | 'config'>>().toEqualTypeOf<
    Omit<In<typeof pluginInput>, 'name' | 'config'>
  >()
  expectTypeOf<Omit<Plain<EventInputOf<string, object>>, 'data'>>().toEqualTypeOf<Omit<In<typeof eventInput>, 'data'>>()
  expectTypeOf<Plain<RotateInput>>().toEqualTypeOf<In<typeof rotateInput>>()
  expectTypeOf<keyof ReplayInput>().toEqualTypeOf<keyof In<typeof replayInput>>()
  expectTypeOf<keyof EraseInput>().toEqualTypeOf<keyof In<typeof eraseInput>>()
  expectTypeOf<keyof TestInput>().toEqualTypeOf<keyof In<typeof testInput>>()
})

test('rows are what the schemas make of inputs', () => {
  expectTypeOf<Omit<Plain<Workspace>, Chosen>>().toEqualTypeOf<Omit<Out<typeof workspaceInput>, Chosen>>()
  expectTypeOf<Omit<Plain<Endpoint>, Chosen | Told>>().toEqualTypeOf<
    Omit<Out<typeof endpointInput>, Chosen | Told | 'plugins'>
  >()
  expectTypeOf<Omit<Plain<Source>, Chosen | 'config'>>().toEqualTypeOf<
    Omit<Out<typeof sourceInput>, Chosen | 'plugins' | 'config'>
  >()
  expectTypeOf<Omit<Plain<Plugin>, Chosen>>().toEqualTypeOf<Omit<Out<typeof pluginInput>, Chosen>>()
})

test('configs of the built-in plugins are what their schemas take', () => {
  expectTypeOf<Plain<BuiltInPlugins['basic-auth']>>().toEqualTypeOf<ConfigGiven<typeof basicAuth>>()
  expectTypeOf<Plain<BuiltInPlugins['key-auth']>>().toEqualTypeOf<ConfigGiven<typeof keyAuth>>()
  expectTypeOf<Plain<BuiltInPlugins['hmac-auth']>>().toEqualTypeOf<ConfigGiven<typeof hmacAuth>>()
  expectTypeOf<keyof BuiltInPlugins['standard-webhooks']>().toEqualTypeOf<keyof ConfigGiven<typeof standardWebhooks>>()
  expectTypeOf<keyof BuiltInPlugins['webhookx-signature']>().toEqualTypeOf<
    keyof ConfigGiven<typeof webhookxSignature>
  >()
  type Providers = { [Name in keyof typeof providers]: v.InferInput<(typeof providers)[Name]> }
  expectTypeOf<Plain<ProviderConfigs>>().toEqualTypeOf<Plain<Providers>>()
})
