/** Texts of workspaces. */
export const workspaces = {
  'workspace.title': 'Workspaces',
  'workspace.new': 'Add workspace',
  'workspace.edit': 'Edit workspace',
  'workspace.name': 'Name',
  'workspace.id': 'Id',
  'workspace.description': 'Description',
  'workspace.created': 'Created',
  'workspace.limits': 'Limits',
  'workspace.limits.events': 'Events a second',
  'workspace.limits.days': 'Days that events are kept',
  'workspace.limits.endpoints': 'Endpoints',
  'workspace.limits.hint': 'Empty: no limit of its own.',
  'workspace.search': 'Exact name',
  'workspace.none': 'No workspace has this name',
  'workspace.delete.title': 'Delete this workspace',
  'workspace.delete.text':
    'Its endpoints, sources and plugins are deleted, its events and deliveries cannot be read any more. This cannot be undone. Type {name} to confirm.',
} as const
