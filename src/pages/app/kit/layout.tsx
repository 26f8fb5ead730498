import type { ComponentChildren } from 'preact'

import { useEffect } from 'preact/hooks'

import { t } from '../texts.ts'
import { Link, place } from './router.tsx'
import { Toast } from './toast.tsx'

export interface NavItem {
  readonly to: string
  readonly text: string
}

interface FrameProps {
  readonly brand: ComponentChildren
  readonly head?: ComponentChildren
  /** Groups of links; each may have a heading. */
  readonly nav: readonly { readonly title?: string; readonly items: readonly NavItem[] }[]
  readonly children: ComponentChildren
}

/** The frame of a page: brand and navigation beside the content, above it on narrow screens. */
export function Frame({ brand, head, nav, children }: FrameProps) {
  const { path } = place.value
  const all = nav.flatMap(({ items }) => items)
  // The longest fitting link is the current link.
  const current = all
    .filter(({ to }) => path === to || path.startsWith(`${to === '/' ? '' : to}/`))
    .toSorted((a, b) => b.to.length - a.to.length)[0]
  // On narrow screens the links stand in one line, which may be longer than the screen.
  useEffect(() => {
    document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current?.to])
  return (
    <>
      <a class="skip" href="#content">
        {t('nav.skip')}
      </a>
      <div class="frame">
        <header class="side">
          <div class="brand">{brand}</div>
          {head}
          <nav aria-label={t('nav.main')}>
            {nav.map(({ title, items }, i) => (
              <div class="nav-group" key={i}>
                {title !== undefined && <p class="nav-title">{title}</p>}
                <ul>
                  {items.map((item) => (
                    <li key={item.to}>
                      <Link to={item.to} {...(item === current && { 'aria-current': 'page' })}>
                        {item.text}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
        </header>
        <main id="content">{children}</main>
      </div>
      <Toast />
    </>
  )
}

/** The head of a view: a title, where it belongs, and what can be done. */
export function Head({
  title,
  trail,
  badge,
  children,
}: {
  readonly title: ComponentChildren
  readonly trail?: { readonly to: string; readonly text: string }
  readonly badge?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <div class="head">
      <div class="head-title">
        {trail && (
          <Link to={trail.to} class="trail">
            <span aria-hidden="true">←</span> {trail.text}
          </Link>
        )}
        <h1 tabIndex={-1}>
          {title} {badge}
        </h1>
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  )
}

export function Panel({
  title,
  actions,
  children,
}: {
  readonly title?: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="panel" {...(title !== undefined && { 'aria-label': title })}>
      {title !== undefined && (
        <div class="panel-head">
          <h2>{title}</h2>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** Facts as pairs of a name and a value. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Large figures in a row. */
export function Figures({
  of,
}: {
  readonly of: readonly {
    readonly name: string
    readonly value: ComponentChildren
    readonly tone?: 'good' | 'bad' | 'warn'
  }[]
}) {
  return (
    <dl class="figures">
      {of.map(({ name, value, tone }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={tone === undefined ? '' : `ink-${tone}`}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
