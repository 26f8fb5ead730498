/** Texts of the catalogue. */
export const catalogue = {
  'catalogue.title': 'Catalogue',
  'catalogue.none': 'No catalogue',
  'catalogue.none.hint': 'The option events of createPosthorn gives event types with their schemas.',
  'catalogue.none.portal': 'Your provider has not listed event types here.',
  'catalogue.schema': 'Schema',
  'catalogue.example': 'Example',
  'catalogue.deprecated': 'deprecated',
  'catalogue.hidden': 'operators only',
  'catalogue.volume': 'Tries, 24 h',
  'catalogue.other': 'Other',
} as const
