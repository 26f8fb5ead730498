/** Texts of sources. */
export const sources = {
  'source.title': 'Source',
  'source.new': 'Add source',
  'source.edit': 'Edit source',
  'source.none': 'No sources yet',
  'source.none.hint': 'A source is a path on which requests become events.',
  'source.path': 'Path',
  'source.methods': 'Methods',
  'source.enabled': 'Take requests',
  'source.async': 'Answer before the event is stored',
  'source.response': 'Answer',
  'source.response.code': 'Status',
  'source.response.type': 'Content type',
  'source.response.body': 'Body',
  'source.requests': 'Last requests',
  'source.requests.hint':
    'Of the process that answers, since it started; at most 50. Bodies are kept where gateway.captureBytes says so.',
  'source.requests.body': 'Body',
  'source.requests.none': 'This process took no request for the source.',
  'source.delete.title': 'Delete this source',
  'source.delete.text': 'Requests to its path are answered 404 from now on.',
} as const
