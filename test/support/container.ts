import { isDeepStrictEqual } from 'node:util'

import { parse, parseAllDocuments } from 'yaml'

import { readSettings } from '../../adapters/cli/read-settings.ts'
import { settings } from '../../adapters/cli/settings.ts'
import manifest from '../../package.json' with { type: 'json' }

// What examples/container must say, made of what the code says: ports, variables, commands, the entry, packages.

export interface ContainerFiles {
  readonly Dockerfile: string
  readonly 'compose.yaml': string
  readonly 'kubernetes.yaml': string
}
export interface Instruction {
  readonly name: string
  readonly value: string
}

const port = {
  admin: settings.portAdmin.byDefault,
  gateway: settings.portGateway.byDefault,
  status: settings.portStatus.byDefault,
}
export const user = 65_532
const entry = ['node', `node_modules/posthorn/${manifest.bin.posthorn}`]
const packages = [
  'pg',
  '@redis/client',
  're2js',
  'quickjs-emscripten-core',
  '@jitl/quickjs-wasmfile-release-sync',
] as const

/** The instructions of a Dockerfile, without comments, continued lines joined. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0]!, value: line.slice(line.indexOf(' ') + 1) }))
}

function dockerfile(text: string): unknown[] {
  const versions = manifest.devDependencies
  const install = packages.map((name) => `${name}@${versions[name]}`).join(' ')
  const flags = '--omit=dev --no-audit --no-fund --no-update-notifier'
  const health = '--interval=10s --timeout=5s --start-period=30s'
  const instructions = [
    ['FROM', 'node:22-slim AS install'],
    ['WORKDIR', '/app'],
    ['COPY', `${manifest.name}-*.tgz ./posthorn.tgz`],
    ['RUN', `npm install ${flags} ./posthorn.tgz ${install}`],
    ['FROM', 'node:22-slim'],
    ['WORKDIR', '/app'],
    ['ENV', 'NODE_ENV=production'],
    ['ENV', `${settings.host.variable}=0.0.0.0`],
    ['COPY', '--from=install /app/node_modules ./node_modules'],
    ['USER', `${user}:${user}`],
    ['EXPOSE', `${port.gateway} ${port.admin} ${port.status}`],
    ['STOPSIGNAL', 'SIGTERM'],
    ['HEALTHCHECK', `${health} CMD ${listOf([...entry, 'status', '--live'])}`],
    ['ENTRYPOINT', listOf(entry)],
    ['CMD', listOf(['serve'])],
  ].map(([name, value]) => ({ name, value }))
  return [[instructionsOf(text), instructions]]
}

function listOf(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
}

/** Readers of YAML differ: in version 1.1 `yes` is no text. */
const versions = ['1.2', '1.1'] as const
const after = { redis: { condition: 'service_healthy' }, migrate: { condition: 'service_completed_successfully' } }

function compose(text: string): unknown[] {
  type Found = { services: { api: { environment: Record<string, string> } } }
  const [found, old] = versions.map((version) => parse(text, { merge: true, version, logLevel: 'error' }) as Found) as [
    Found,
    Found,
  ]
  const posthorn = {
    image: 'posthorn',
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    restart: 'unless-stopped',
  }
  const environment = {
    [settings.databaseUrl.variable]: 'postgres://posthorn:${POSTGRES_PASSWORD}@postgres:5432/posthorn',
    [settings.redisUrl.variable]: 'redis://redis:6379',
    [settings.adminToken.variable]: '${ADMIN_TOKEN:?}',
    [settings.migrate.variable]: 'false',
  }
  const service = { ...posthorn, environment, depends_on: after }
  const healthy = (test: readonly string[]) => ({ test, interval: '2s', retries: 30 })
  const { admin, gateway } = port
  return [
    [
      found,
      {
        'x-posthorn': posthorn,
        'x-environment': environment,
        'x-after': after,
        services: {
          api: {
            ...service,
            command: ['serve', '--role', 'api'],
            ports: [`${gateway}:${gateway}`, `127.0.0.1:${admin}:${admin}`],
          },
          worker: { ...service, command: ['serve', '--role', 'worker'], deploy: { replicas: 2 } },
          migrate: {
            ...service,
            command: ['migrate'],
            restart: 'on-failure',
            healthcheck: { disable: true },
            depends_on: { postgres: { condition: 'service_healthy' } },
          },
          postgres: {
            image: 'postgres:17',
            environment: { POSTGRES_USER: 'posthorn', POSTGRES_PASSWORD: '${POSTGRES_PASSWORD:?}' },
            healthcheck: healthy(['CMD', 'pg_isready', '-U', 'posthorn']),
            volumes: ['postgres:/var/lib/postgresql/data'],
          },
          redis: {
            image: 'redis:7',
            command: ['redis-server', '--appendonly', 'yes', '--appendfsync', 'always'],
            healthcheck: healthy(['CMD', 'redis-cli', 'ping']),
            volumes: ['redis:/data'],
          },
        },
        volumes: { postgres: null, redis: null },
      },
    ],
    [old, found],
    [readSettings({ ...found.services.api.environment, ADMIN_TOKEN: 'x', HOST: '0.0.0.0' }).problems, []],
  ]
}

const labelled = (app: string) => ({ labels: { app } })

/** The specification of a pod that runs one command. */
function pod(name: string, args: readonly string[], more: object, ports: readonly (keyof typeof port)[]) {
  const probe = (path: string, periodSeconds: number) => ({
    httpGet: { path, port: 'status' },
    periodSeconds,
    timeoutSeconds: 5,
  })
  const isServer = ports.length > 0
  return {
    ...more,
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: user, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name,
        image: 'posthorn',
        args,
        envFrom: [{ secretRef: { name: 'posthorn' } }],
        ...(isServer && {
          env: [{ name: settings.migrate.variable, value: 'false' }],
          ports: ports.map((each) => ({ name: each, containerPort: port[each] })),
          livenessProbe: probe('/live', 10),
          readinessProbe: probe('/ready', 5),
        }),
        securityContext: {
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  }
}

function kubernetes(text: string): unknown[] {
  type Found = { stringData?: Record<string, string> }
  const [found, old] = versions.map((version) =>
    parseAllDocuments(text, { version, logLevel: 'error' }).map((document) => {
      if (document.errors.length > 0) throw document.errors[0]!
      return document.toJS() as Found
    }),
  ) as [Found[], Found[]]
  const deployment = (role: 'api' | 'worker', ports: readonly (keyof typeof port)[]) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `posthorn-${role}` },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: `posthorn-${role}` } },
      template: {
        metadata: labelled(`posthorn-${role}`),
        // A server takes at most ten seconds.
        spec: pod(role, ['serve', '--role', role], { terminationGracePeriodSeconds: 20 }, ports),
      },
    },
  })
  return [
    [
      found,
      [
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'posthorn' },
          stringData: {
            [settings.databaseUrl.variable]: 'postgres://posthorn:change-me@postgres:5432/posthorn',
            [settings.adminToken.variable]: 'change-me',
          },
        },
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: 'posthorn-migrate' },
          spec: {
            backoffLimit: 10,
            template: { spec: pod('migrate', ['migrate'], { restartPolicy: 'OnFailure' }, []) },
          },
        },
        deployment('api', ['gateway', 'admin', 'status']),
        deployment('worker', ['status']),
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'posthorn' },
          spec: {
            selector: { app: 'posthorn-api' },
            ports: (['gateway', 'admin'] as const).map((name) => ({ name, port: port[name], targetPort: name })),
          },
        },
      ],
    ],
    [old, found],
    [readSettings({ ...found[0]?.stringData, HOST: '0.0.0.0', POSTHORN_ROLE: 'api' }).problems, []],
  ]
}

/** What a comment tells to type: its lines that stand in by three blanks. */
export function commandsOf(text: string): string[] {
  return text.split('\n').flatMap((line) => /^# {3}(.*)$/.exec(line)?.[1] ?? [])
}

const place = 'examples/container'
const typed: Readonly<Record<keyof ContainerFiles, readonly string[]>> = {
  Dockerfile: [`npm ci && npm run build && npm pack && docker build -f ${place}/Dockerfile -t posthorn .`],
  'compose.yaml': [`ADMIN_TOKEN=... POSTGRES_PASSWORD=... docker compose -f ${place}/compose.yaml up`],
  'kubernetes.yaml': [],
}

const checks: Readonly<Record<keyof ContainerFiles, (text: string) => unknown[]>> = {
  Dockerfile: dockerfile,
  'compose.yaml': compose,
  'kubernetes.yaml': kubernetes,
}

/** Whether a file says something wrong, or cannot be read. */
export function isWrong(name: keyof ContainerFiles, text: string): boolean {
  try {
    const pairs = checks[name](text) as [unknown, unknown][] // as the functions above make them
    return ![...pairs, [commandsOf(text), typed[name]]].every(([found, expected]) => isDeepStrictEqual(found, expected))
  } catch {
    return true
  }
}
