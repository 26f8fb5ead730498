/** Texts of plugins. */
export const plugins = {
  'plugin.new': 'Add plugin',
  'plugin.none': 'No plugins yet',
  'plugin.none.hint': 'Plugins sign, check and change requests.',
  'plugin.kind': 'Kind',
  'plugin.owner': 'Belongs to',
  'plugin.owner.choose': 'Choose an endpoint or a source',
  'plugin.enabled': 'On',
  'plugin.config': 'Configuration',
  'plugin.config.json': 'JSON. What is left out has its default; secrets are made.',
  'plugin.config.wrong': 'This is no JSON.',
  'plugin.delete.title': 'Delete this plugin',
  'plugin.delete.text': 'Requests pass without it from now on.',
} as const
