import { useState } from 'preact/hooks'

import { ask, askText } from '../kit/ask.ts'
import { Code } from '../kit/code.tsx'
import { useAction } from '../kit/dialog.tsx'
import { Choice, Field, FormError } from '../kit/form.tsx'
import { count } from '../kit/figures.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import type { Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import { Table } from '../kit/table.tsx'
import { say } from '../kit/toast.tsx'
import { t } from '../texts.ts'
import { difference, type Line } from './difference.ts'

interface Counts {
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly unchanged: number
}
type Kind = 'endpoints' | 'sources' | 'plugins'
type Report = Readonly<Record<Kind, Counts>> & { readonly warnings?: readonly string[] }

const kinds: readonly Kind[] = ['endpoints', 'sources', 'plugins']

/** What would change: counts of the server's dry run, and the lines that differ from the document of now. */
interface Plan {
  readonly text: string
  readonly report: Report
  readonly lines: readonly Line[]
}

export function ConfigurationView({ scope }: { readonly scope: Scope }) {
  const [format, setFormat] = useState<'yaml' | 'json'>('yaml')
  const [isOpen, setOpen] = useState(false)
  const path = `${scope.api}/config/dump`
  const accept = format === 'yaml' ? 'text/plain' : 'application/json'
  const dump = useLoad(`${path} ${format}`, (signal) => askText(path, { method: 'POST', accept, signal }))
  const download = (text: string) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    link.download = `posthorn.${format}`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <>
      <Head title={t('config.title')} />
      <Apply scope={scope} current={dump.data ?? ''} onDone={dump.reload} />
      <Panel
        title={t('config.current')}
        actions={
          <>
            <Choice
              label={t('config.format')}
              value={format}
              options={[
                ['yaml', 'YAML'],
                ['json', 'JSON'],
              ]}
              onChange={setFormat}
            />
            <button type="button" onClick={() => setOpen(!isOpen)}>
              {t(isOpen ? 'action.hide' : 'action.show')}
            </button>
            <button type="button" disabled={dump.data === undefined} onClick={() => download(dump.data ?? '')}>
              {t('config.download')}
            </button>
          </>
        }
      >
        <Shown of={dump}>
          {(text) =>
            isOpen ? <Code text={text} label={`posthorn.${format}`} /> : <p class="dim">{t('config.hidden')}</p>
          }
        </Shown>
      </Panel>
    </>
  )
}

function Apply({
  scope,
  current,
  onDone,
}: {
  readonly scope: Scope
  readonly current: string
  readonly onDone: () => void
}) {
  const [text, setText] = useState('')
  const [plan, setPlan] = useState<Plan | null>(null)
  const { busy, error, start } = useAction()
  const path = `${scope.api}/config/sync`
  const send = (search: string) => {
    const type = text.trimStart().startsWith('{') ? 'application/json' : 'text/plain'
    return ask<Report>(`${path}${search}`, { method: 'POST', body: text, type })
  }
  const check = (event: Event) => {
    event.preventDefault()
    start(async () => setPlan({ text, report: await send('?dry_run=true'), lines: difference(current, text) }))
  }
  const apply = () =>
    start(async () => {
      await send('')
      setPlan(null)
      setText('')
      say(t('config.applied'))
      onDone()
    })
  const write = (next: string) => {
    setText(next)
    setPlan(null)
  }
  const isChange = plan !== null && kinds.some((kind) => plan.report[kind].unchanged !== sumOf(plan.report[kind]))
  return (
    <Panel title={t('config.sync')}>
      <form onSubmit={check}>
        <Field label={t('config.document')} hint={t('config.sync.hint')}>
          {(attributes) => (
            <textarea
              {...attributes}
              rows={8}
              required
              spellcheck={false}
              value={text}
              onInput={(event) => write(event.currentTarget.value)}
            />
          )}
        </Field>
        <FormError error={error} places={[]} />
        <div class="actions">
          <button type="submit" disabled={busy}>
            {t('config.check')}
          </button>
          <label class="button">
            {t('config.file')}
            <input
              type="file"
              class="unseen"
              accept=".json,.yaml,.yml"
              onChange={(event) => void event.currentTarget.files?.[0]?.text().then(write)}
            />
          </label>
        </div>
      </form>
      {plan !== null && (
        <div class="stack plan">
          {isChange ? <Counted of={plan.report} /> : <p class="note">{t('config.nothing')}</p>}
          {plan.report.warnings?.map((warning) => (
            <p key={warning} class="note note-warn">
              {warning}
            </p>
          ))}
          {isChange && (
            <>
              <Difference lines={plan.lines} />
              <button type="button" class="primary" disabled={busy} onClick={apply}>
                {t('action.apply')}
              </button>
            </>
          )}
        </div>
      )}
    </Panel>
  )
}

function sumOf({ created, updated, deleted, unchanged }: Counts): number {
  return created + updated + deleted + unchanged
}

function Counted({ of }: { readonly of: Report }) {
  return (
    <Table
      label={t('config.diff')}
      rows={kinds.map((kind) => ({ kind, ...of[kind] }))}
      keyOf={({ kind }) => kind}
      columns={[
        { title: t('config.title'), grows: true, cell: ({ kind }) => t(`config.kind.${kind}`) },
        ...(['created', 'updated', 'deleted', 'unchanged'] as const).map((name) => ({
          title: t(`config.${name}`),
          number: true,
          cell: (row: Counts) => count(row[name]),
        })),
      ]}
    />
  )
}

const marks = { add: '+', remove: '-', same: ' ' } as const

function Difference({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <div class="code">
      <div class="code-bar">
        <span class="code-label">{t('config.diff')}</span>
      </div>
      <pre tabIndex={0} aria-label={t('config.diff')}>
        {lines.map(({ kind, text }, i) => (
          <span key={i} class={`diff-${kind}`}>{`${marks[kind]} ${text}\n`}</span>
        ))}
      </pre>
    </div>
  )
}
