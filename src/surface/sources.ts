import type { Source, SourceInput } from '../schema/source.ts'
import type { OwnedListInput } from './lists.ts'
import type { ResourceService } from './resource.ts'

/** Sources: where inbound requests become events. `workspace` is an id or a name. */
export interface SourceService extends ResourceService<Source, SourceInput, OwnedListInput> {}
