/** Texts of the portal alone. */
export const portal = {
  'portal.title': 'Webhooks',
  'portal.ended': 'This link has ended',
  'portal.ended.hint': 'Open the page again from the application you came from.',
  'portal.readOnly': 'You can look, but not change anything.',
  'portal.verify': 'Verify deliveries',
  'portal.verify.hint':
    'Deliveries are signed as standardwebhooks.com describes. A receiver checks the signature over the raw body, before it reads the body.',
  'portal.events.choose': 'Choose the events that the endpoint receives.',
  'portal.events.every': 'Every event, now and later',
  'portal.events.other': 'Other types',
} as const
