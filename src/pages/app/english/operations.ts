/** Texts of operational events. */
export const operations = {
  'operations.title': 'Operational events',
  'operations.all': 'All operational events',
  'operations.none': 'Nothing happened lately.',
  'operations.what': 'What',
  'operations.about': 'About',
  'operations.times': 'Times',
  'operations.posthorn.delivery.exhausted': 'delivery given up',
  'operations.posthorn.endpoint.failing': 'endpoint fails',
  'operations.posthorn.endpoint.disabled': 'endpoint turned off',
  'operations.posthorn.endpoint.recovered': 'endpoint recovered',
  'operations.posthorn.source.refusing': 'source refuses',
  'operations.posthorn.backlog.growing': 'backlog grows',
  'operations.posthorn.configuration.changed': 'change',
} as const
