import { ask, query } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { Code } from '../kit/code.tsx'
import { count } from '../kit/figures.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import type { Scope } from '../kit/scope.ts'
import { Empty, Shown } from '../kit/states.tsx'
import type { EventType, StatsReport } from '../kit/types.ts'
import { t } from '../texts.ts'

export function useTypes(scope: Scope | null, hidden: boolean) {
  const path = scope && `${scope.api}/event-types${hidden ? '?hidden=true' : ''}`
  return useLoad(path, (signal) => ask<readonly EventType[]>(path!, { signal }))
}

/** Event types with schema, example and volume, under the headings of the host. */
export function CatalogueView({
  scope,
  hidden,
  hint,
}: {
  readonly scope: Scope
  readonly hidden: boolean
  readonly hint: string
}) {
  const types = useTypes(scope, hidden)
  const volumes = useLoad(`volumes ${scope.api}`, (signal) =>
    ask<StatsReport>(`${scope.api}/stats${query({ group_by: 'event_type', step: 'hour' })}`, { signal }),
  )
  const volumeOf = (type: string) =>
    volumes.data?.groups
      ?.find(({ group }) => group === type)
      ?.data.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0) ?? 0

  return (
    <>
      <Head title={t('catalogue.title')} />
      <Shown of={types}>
        {(all) =>
          all.length === 0 ? (
            <Panel>
              <Empty title={t('catalogue.none')} hint={hint} />
            </Panel>
          ) : (
            <>
              {groupsOf(all).map(([group, own]) => (
                <Panel key={group} title={group}>
                  <ul class="rows">
                    {own.map((type) => (
                      <Type key={type.event_type} of={type} volume={volumeOf(type.event_type)} />
                    ))}
                  </ul>
                </Panel>
              ))}
            </>
          )
        }
      </Shown>
    </>
  )
}

function Type({ of, volume }: { readonly of: EventType; readonly volume: number }) {
  const { event_type, description, deprecated, hidden, schema, example } = of
  return (
    <li>
      <details class="fold">
        <summary class="row-line">
          <b class="mono">{event_type}</b>
          {deprecated && <Badge tone="warn">{t('catalogue.deprecated')}</Badge>}
          {hidden && <Badge tone="dim">{t('catalogue.hidden')}</Badge>}
          <span class="dim">{description}</span>
          <span class="dim push">
            {t('catalogue.volume')}: {count(volume)}
          </span>
        </summary>
        {example !== null && <Code text={JSON.stringify(example, null, 2)} label={t('catalogue.example')} />}
        {schema !== null && <Code text={JSON.stringify(schema, null, 2)} label={t('catalogue.schema')} />}
      </details>
    </li>
  )
}

/** Types by heading: types without a heading stand under the first word of their name. */
export function groupsOf(types: readonly EventType[]): readonly (readonly [string, readonly EventType[]])[] {
  const groups = new Map<string, EventType[]>()
  for (const type of types) {
    const group = type.group ?? (type.event_type.includes('.') ? type.event_type.split('.')[0]! : t('catalogue.other'))
    const own = groups.get(group)
    if (own === undefined) groups.set(group, [type])
    else own.push(type)
  }
  return [...groups]
}
