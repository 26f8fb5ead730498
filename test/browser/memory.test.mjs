import { journeys } from './journeys.mjs'

journeys('memory', () => undefined)
