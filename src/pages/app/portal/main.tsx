import { render } from 'preact'

import '../kit/style.css'
import { sent } from '../kit/ask.ts'
import { settings } from '../kit/settings.ts'
import { App } from './app.tsx'

const key = 'posthorn portal'

/**
 * The token of the link, which is removed from the address at once, or after a reload the token that the page stored.
 */
function tokenOf(): string | null {
  const given = location.hash.slice(1)
  if (given !== '') {
    sessionStorage.setItem(key, given)
    history.replaceState(null, '', `${location.pathname}${location.search}`)
  }
  return sessionStorage.getItem(key)
}

const token = tokenOf()
if (token !== null) sent['authorization'] = `Bearer ${token}`

const { accent } = settings.brand ?? {}
if (accent !== undefined) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16))
  const isBright = red * 0.299 + green * 0.587 + blue * 0.114 > 150
  const { style } = document.documentElement
  style.setProperty('--brand', accent)
  style.setProperty('--on-brand', isBright ? '#10151c' : '#ffffff')
}

render(<App />, document.querySelector('#app')!)
