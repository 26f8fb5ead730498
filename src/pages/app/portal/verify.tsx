import { useState } from 'preact/hooks'

import { Code } from '../kit/code.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { t } from '../texts.ts'
import { snippets } from './snippets.ts'

/** How a receiver verifies what it gets, in the languages that receivers are written in. */
export function VerifyView() {
  const names = Object.keys(snippets)
  const [chosen, setChosen] = useState(names[0] ?? '')
  return (
    <>
      <Head title={t('portal.verify')} />
      <Panel>
        <p>{t('portal.verify.hint')}</p>
        <div class="tabs" role="tablist" aria-label={t('portal.verify')}>
          {names.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === chosen}
              aria-controls="snippet"
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </div>
        <div id="snippet" role="tabpanel" aria-labelledby={`tab-${chosen}`}>
          <Code key={chosen} text={snippets[chosen] ?? ''} label={chosen} />
        </div>
      </Panel>
    </>
  )
}
