import { useState } from 'preact/hooks'

import { t, tOf } from '../texts.ts'
import { ask, segment } from './ask.ts'
import { Code } from './code.tsx'
import { duration, Time } from './figures.tsx'
import { useLoad } from './load.ts'
import type { Scope } from './scope.ts'
import { Status } from './badge.tsx'
import { Shown } from './states.tsx'
import { Copy } from './copy.tsx'
import type { Attempt } from './types.ts'

/** The tries of a delivery in order of time, numbered through: `attempt_number` begins anew where somebody resends. */
export function Timeline({ scope, attempts }: { readonly scope: Scope; readonly attempts: readonly Attempt[] }) {
  const [first] = attempts.toReversed()
  return (
    <ol class="timeline" reversed>
      {attempts.toReversed().map((attempt, i) => (
        <Try
          key={attempt.id}
          number={attempts.length - i}
          scope={scope}
          attempt={attempt}
          opened={attempt === first && attempt.attempted_at !== null}
        />
      ))}
    </ol>
  )
}

const tones: Readonly<Record<string, string>> = { SUCCESSFUL: 'good', FAILED: 'bad', INIT: 'info', QUEUED: 'info' }

function Try({
  scope,
  number,
  attempt,
  opened,
}: {
  readonly scope: Scope
  readonly number: number
  readonly attempt: Attempt
  readonly opened: boolean
}) {
  const [open, setOpen] = useState(opened)
  const { status, attempted_at, scheduled_at, trigger_mode } = attempt
  const isOpen = status === 'INIT' || status === 'QUEUED'
  return (
    <li class={`try try-${tones[status] ?? 'dim'}`}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{t('attempt.try', { n: number })}</b>
          <Status of={status} />
          <span>{outcome(attempt)}</span>
          <span class="dim">
            {tOf('attempt', trigger_mode)} · <Time at={isOpen ? scheduled_at : (attempted_at ?? attempt.updated_at)} />
          </span>
        </summary>
        {open && <Exchange scope={scope} id={attempt.id} version={attempt.updated_at} />}
      </details>
    </li>
  )
}

function outcome({ response, error_code, error_message }: Attempt): string {
  if (response !== null && error_code === null) {
    return t('attempt.answered', { status: response.status, latency: duration(response.latency) })
  }
  if (error_message !== null) return error_message
  return error_code === null ? '' : tOf('error', error_code)
}

/** What was sent, and what came back. */
function Exchange({ scope, id, version }: { readonly scope: Scope; readonly id: string; readonly version: number }) {
  const loaded = useLoad(`${id} ${version}`, (signal) =>
    ask<Attempt>(`${scope.api}/attempts/${segment(id)}`, { signal }),
  )
  return (
    <Shown of={loaded} rows={3}>
      {({ request, response, error_message }) =>
        request === null || (request.headers === null && response === null && error_message === null) ? (
          <p class="dim">{t('attempt.nothing')}</p>
        ) : (
          <div class="try-body">
            <section aria-label={t('attempt.request')}>
              <div class="panel-head">
                <h3>{t('attempt.request')}</h3>
                <Copy text={curlOf(request)} label={t('action.copyCurl')} quiet />
              </div>
              <p class="mono">
                {request.method} {request.url}
              </p>
              <HeaderTable headers={request.headers} />
              {request.body !== null && <Code text={request.body} label={t('attempt.body')} />}
            </section>
            <section aria-label={t('attempt.response')}>
              <div class="panel-head">
                <h3>{t('attempt.response')}</h3>
              </div>
              {response === null ? (
                <p class="ink-bad">{error_message}</p>
              ) : (
                <>
                  <p class="mono">
                    {response.status} · {duration(response.latency)}
                  </p>
                  <HeaderTable headers={response.headers} />
                  {response.body === null || response.body === '' ? (
                    <p class="dim">{t('attempt.noBody')}</p>
                  ) : (
                    <Code text={response.body} label={t('attempt.body')} />
                  )}
                </>
              )}
            </section>
          </div>
        )
      }
    </Shown>
  )
}

function HeaderTable({ headers }: { readonly headers: Readonly<Record<string, string>> | null }) {
  const entries = Object.entries(headers ?? {})
  if (entries.length === 0) return null
  return (
    <details class="more">
      <summary>
        {t('attempt.headers')} ({entries.length})
      </summary>
      <table class="headers">
        <tbody>
          {entries.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

/** The request as a command for a shell: every value in single quotes, in which nothing has a meaning. */
function curlOf(request: NonNullable<Attempt['request']>): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const body = request.body === null ? [] : [`--data-raw ${quoted(request.body)}`]
  return [`curl -X ${request.method} ${quoted(request.url)}`, ...headers, ...body].join(' \\\n  ')
}
