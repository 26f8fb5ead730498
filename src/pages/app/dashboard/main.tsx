import { render } from 'preact'

import '../kit/style.css'
import { App } from './app.tsx'

render(<App />, document.querySelector('#app')!)
