/**
 * Where the IDs of a service come from, as far as its options depend on that.
 *
 * `assigned` is an assigner that may give a worker id again without knowing how far it was used, `static` among them;
 * `stateFile` is one with a file that knows it, and `fresh` one of your own that never gives a worker id twice. `store` is
 * a store of leases: `redisWorkers()`, `etcdWorkers()`, `natsWorkers()` or one of your own.
 */
export type Origin = 'database' | 'store' | 'disposable' | 'fresh' | Assigned | 'idSource' | 'numberSection';
type Assigned = 'assigned' | 'static' | 'stateFile';

const LEASED = ['database', 'store'] as const;
const OWN = [...LEASED, 'disposable', 'fresh', 'assigned'] as const;
const ROWS = [...LEASED, 'stateFile'] as const;

/**
 * Which services there are to read an option: what they are called in a refusal and in the documents, and where their IDs
 * come from. All others refuse the option.
 */
export const AUDIENCES = {
  everyService: audience('every service', [...OWN, 'idSource', 'numberSection']),
  snowflakes: audience(`idMode: 'snowflake'`, [...OWN, 'idSource']),
  ownWorker: audience('a service with a worker id of its own', OWN),
  ownWorkerOrNumbers: audience(`a service with a worker id of its own, and idMode: 'numberSection'`, [
    ...OWN,
    'numberSection',
  ]),
  tables: audience(`workerIdAssigner: 'database' and 'disposable' only, and idMode: 'numberSection'`, [
    ...['database' as const, 'disposable' as const, 'numberSection' as const],
  ]),
  leased: audience(`leased worker ids only ('database' and stores)`, LEASED),
  rows: audience('leased worker ids and those with a stateFile', ROWS),
  rowsOfHosts: audience(`worker ids of 'database', stores or 'disposable', and those with a stateFile`, [
    ...ROWS,
    'disposable',
  ]),
  original: audience(`workerIdAssigner: 'database' only, on a table that the Go original uses`, ['database']),
  database: audience(`workerIdAssigner: 'database' only`, ['database']),
  staticId: audience(`workerIdAssigner: 'static' only`, ['static']),
  forgetful: audience(`assigners without a record of issued IDs, unlike 'database', stores and 'disposable'`, [
    'assigned',
  ]),
  numbers: audience(`idMode: 'numberSection'`, ['numberSection']),
} as const;

/** The services that read an option. */
export type Audience = keyof typeof AUDIENCES;

function audience(purpose: string, origins: readonly Origin[]): { purpose: string; origins: readonly Origin[] } {
  return { purpose, origins };
}
