import { flag, integer, type Kind, list, oneOf, sealingKey, text, url } from './setting-kinds.ts'

export interface Setting<Value = unknown> {
  /** The environment variable. The name in the configuration file is that of the setting. */
  readonly variable: string
  readonly kind: Kind<Value>
  /** What holds when nothing is set; `undefined` where nothing then holds. */
  readonly byDefault: Value | undefined
  readonly meaning: string
  /** Whether the value must not be shown. */
  readonly isSecret?: true
}

function setting<Value>(variable: string, kind: Kind<Value>, byDefault: Value, meaning: string) {
  return { variable, kind, byDefault, meaning } satisfies Setting<Value>
}
/** A setting that has no default. */
function optional<Value>(variable: string, kind: Kind<Value>, meaning: string, details: { isSecret?: true } = {}) {
  return { variable, kind, byDefault: undefined, meaning, ...details } satisfies Setting<Value>
}

const port = integer({ min: 0, max: 65_535 })
const rules = list(text(), 'IP addresses, CIDR ranges, host names, *.suffixes or groups, separated by commas')
const byComma = list(text(), 'texts, separated by commas')
const portalSecret = text('32 characters or more', (value) => value.length >= 32)
const days = integer({ min: 1 })
const identifier = text('lower-case letters, digits and underscores', (value) => /^[a-z_][a-z0-9_]*$/.test(value))

/** Every setting of `posthorn serve`: the only table, from which reading, help and documentation are made. */
export const settings = {
  role: setting(
    'POSTHORN_ROLE',
    oneOf('all', 'api', 'worker'),
    'all',
    'what the process does: `api` answers requests and delivers nothing, `worker` delivers and serves the status only',
  ),
  host: setting('HOST', text('a host name or an IP address'), '127.0.0.1', 'the address that the process listens on'),
  portAdmin: setting('PORT_ADMIN', port, 9601, 'port of the administrative API; 0 takes a free one'),
  portGateway: setting('PORT_GATEWAY', port, 9600, 'port of the gateway; 0 takes a free one'),
  portStatus: setting('PORT_STATUS', port, 9602, 'port of `/live`, `/ready`, `/metrics`; 0 takes a free one'),
  adminToken: optional(
    'ADMIN_TOKEN',
    text('a text without blanks', (value) => /^[\x21-\x7e]+$/.test(value)),
    'requests to the administrative API must carry `authorization: Bearer <token>`',
    { isSecret: true },
  ),
  allowedHosts: optional(
    'POSTHORN_ALLOWED_HOSTS',
    byComma,
    'host names under which the administrative API answers; `127.0.0.1` and `localhost` where it listens on loopback, else any',
  ),
  allowedOrigins: setting(
    'POSTHORN_ALLOWED_ORIGINS',
    byComma,
    [],
    'origins whose pages may use the administrative API',
  ),
  publicUrl: optional(
    'POSTHORN_PUBLIC_URL',
    url('https:', 'http:'),
    'the url under which browsers reach the administrative API, where a proxy changes `Host`',
  ),
  portalSecret: optional(
    'POSTHORN_PORTAL_SECRET',
    list(portalSecret, `${portalSecret.form}, one or two separated by a comma`, { min: 1, max: 2 }),
    'signs links to the portal, which is at `/portal` of the admin port when this is set; of two the first signs',
    { isSecret: true },
  ),
  databaseUrl: optional('DATABASE_URL', url('postgres:', 'postgresql:'), 'PostgreSQL, which then is the storage', {
    isSecret: true,
  }),
  databaseSchema: setting('POSTHORN_DATABASE_SCHEMA', identifier, 'posthorn', 'the schema of the tables'),
  databasePool: setting(
    'POSTHORN_DATABASE_POOL',
    integer({ min: 2, max: 1000 }),
    20,
    'the most connections of a process',
  ),
  databasePrepare: setting(
    'POSTHORN_DATABASE_PREPARE',
    flag(),
    true,
    'prepared statements; `false` behind a pooler in transaction mode',
  ),
  migrate: setting('POSTHORN_MIGRATE', flag(), true, 'migrates the schema at start; `false` where a job does'),
  redisUrl: optional(
    'REDIS_URL',
    url('redis:', 'rediss:'),
    'Redis for queue, limiter and inbox, and for storage where there is no DATABASE_URL',
    { isSecret: true },
  ),
  redisNamespace: setting(
    'POSTHORN_REDIS_NAMESPACE',
    text('of A-Z a-z 0-9 _ . : -, at most 64 characters', (value) => /^[A-Za-z0-9_.:-]{1,64}$/.test(value)),
    'posthorn',
    'all keys begin with it',
  ),
  deny: setting('DENY', rules, ['@default'], 'where no delivery may go; an empty text turns the list off'),
  allow: setting('POSTHORN_ALLOW', rules, [], 'exceptions from `deny`'),
  httpsOnly: setting('POSTHORN_HTTPS_ONLY', flag(), false, 'refuses http urls of endpoints'),
  sign: setting(
    'POSTHORN_SIGN',
    oneOf('none', 'standard-webhooks'),
    'none',
    '`standard-webhooks` gives every new endpoint that plugin with a fresh secret',
  ),
  secretsKeys: optional(
    'POSTHORN_SECRETS_KEYS',
    list(sealingKey(), `${sealingKey().form}, separated by commas`),
    'keys that seal stored secrets: the first one seals, all open (docs/secrets.md)',
    { isSecret: true },
  ),
  concurrency: setting('POSTHORN_CONCURRENCY', integer({ min: 1 }), 256, 'requests in flight of a process'),
  perEndpoint: setting('POSTHORN_PER_ENDPOINT', integer({ min: 1 }), 16, 'requests in flight to one endpoint'),
  timeoutMs: setting(
    'POSTHORN_TIMEOUT_MS',
    integer({ min: 1, max: 600_000 }),
    60_000,
    'for endpoints whose `request.timeout` is 0, milliseconds',
  ),
  captureBytes: setting('POSTHORN_CAPTURE_BYTES', integer({ min: 0 }), 65_536, 'bytes kept of each recorded body'),
  maxBodyBytes: setting('MAX_BODY_BYTES', integer({ min: 1 }), 1_048_576, 'the longest body that the gateway takes'),
  maxAdminBodyBytes: setting(
    'MAX_ADMIN_BODY_BYTES',
    integer({ min: 1 }),
    16_777_216,
    'the longest body that the administrative API takes',
  ),
  eventsDays: optional('POSTHORN_EVENTS_DAYS', days, 'events older than this are removed; kept for ever when not set'),
  attemptsDays: optional(
    'POSTHORN_ATTEMPTS_DAYS',
    days,
    'finished attempts older than this are removed; kept for ever when not set',
  ),
  breaker: setting(
    'POSTHORN_BREAKER',
    flag(),
    false,
    'disables endpoints of whose attempts 80 % failed in an hour, of at least 100',
  ),
  plugins: optional(
    'POSTHORN_PLUGINS',
    list(oneOf('event-validation', 'function'), 'event-validation, function, separated by commas'),
    'plugins that need a package beside; those whose packages are installed when not set',
  ),
  compatible: optional(
    'POSTHORN_COMPATIBLE',
    oneOf('webhookx'),
    '`webhookx`: closer to WebhookX 1.2.0, as docs/moving-from-webhookx.md lists',
  ),
  log: setting('POSTHORN_LOG', oneOf('json', 'text'), 'json', 'form of the log: `json`, or `text` for people'),
  logLevel: optional(
    'POSTHORN_LOG_LEVEL',
    oneOf('debug', 'info', 'warn', 'error'),
    'the least level that is logged; `info` as `json`, `warn` as `text`',
  ),
} satisfies Record<string, Setting>

type Table = typeof settings
type ValueOf<Each> = Each extends { kind: Kind<infer Value>; byDefault: infer Default }
  ? Value | (Default extends undefined ? undefined : never)
  : never

/** What the settings come to. */
export type Settings = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }
export type SettingName = keyof Table

/** Variables of other commands, which `serve` lets stand. */
const clientVariables = {
  POSTHORN_URL: 'the url of the administrative API, for commands that ask it',
  POSTHORN_TOKEN: 'its token, for commands that ask it',
  POSTHORN_WORKSPACE: 'the workspace, for commands that ask it',
} as const

/** Kubernetes gives every container such variables for a service of the name `posthorn`; tests have their own. */
const fromElsewhere = /^POSTHORN_(TEST_.*|([A-Z0-9_]+_)?(SERVICE_(HOST|PORT(_.*)?)|PORT(_\d+_.*)?))$/

/** Every variable that some command reads. */
export const knownVariables: readonly string[] = [
  ...Object.values(settings).map(({ variable }) => variable),
  ...Object.keys(clientVariables),
]

/** Variables that begin as ours do and that nothing reads. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith('POSTHORN_') && !knownVariables.includes(name) && !fromElsewhere.test(name),
  )
}
