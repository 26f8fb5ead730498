import type { ReadSettings } from '../read-settings.ts'
import { type Finding, ok, problem } from './check.ts'

/** What can be said of settings without asking anybody. */
export function settingsFindings({ settings, problems }: ReadSettings): readonly Finding[] {
  const wrong = problems.map((each) =>
    problem('settings', `${each}.`, 'Mend the setting: posthorn serve does not start.'),
  )
  return [
    ...(wrong.length > 0 ? wrong : [ok('settings', 'All settings are understood.')]),
    settings.deny.length === 0
      ? problem(
          'deny list',
          'The deny list is empty: deliveries may go to private addresses and to this machine.',
          'Unset DENY, and list exceptions in POSTHORN_ALLOW.',
        )
      : ok('deny list', `Deliveries to ${settings.deny.join(', ')} are refused.`),
  ]
}
