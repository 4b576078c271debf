import { shortened, type TableName } from '../database/table-name.js';

/** The worker table's name when none is given: the original's. */
export const DEFAULT_WORKER_TABLE = 'soc_raindrop_worker';

/** Where the layouts are kept that the worker table ever served. */
export function layoutTableOf({ schema, name }: TableName): TableName {
  return { schema, name: shortened(`${name}_layout`) };
}
