import { join } from 'node:path';
import type { Dialect } from '../../../libs/node/src/database/dialect.js';

/** Every server is the same one. Whether it is a replica is still seen. */
const SAME_SERVER = {
  mysql: `CASE WHEN CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF') THEN 'replica' ELSE 'same' END`,
  postgres: `CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'same' END`,
  sqlite: `'same'`,
};

/**
 * Takes out what tells one server from another and an old session from a new one: the negative control of failovers. It
 * must repeat IDs.
 */
export function breakTerms(type: unknown): void {
  if (type === 'etcd') return breakReads(builtClass('etcd/etcd-key-values.js', 'EtcdKeyValues'), ['read', 'readAll']);
  if (type === 'nats') return breakReads(builtClass('nats/nats-reader.js', 'NatsReader'), ['readFrom']);
  const database = built('database/supported-database.js') as { dialectOf(type: string, zone?: string): Dialect };
  const { dialectOf } = database;
  database.dialectOf = (type, zone) => {
    const dialect = dialectOf(type, zone);
    return { ...dialect, term: SAME_SERVER[dialect.family], termOfWrite: `'same'`, sessionAgeMs: '0' };
  };
}

type Reading = (this: object, ...args: unknown[]) => Promise<object>;
type Readings = Record<string, Reading>;

/** The same of stores of keys: every cluster is the same one, and no revision goes back. */
function breakReads(methods: Readings, names: readonly string[]): void {
  for (const name of names) {
    const read = methods[name]!;
    methods[name] = async function (...args) {
      return { ...(await read.apply(this, args)), cluster: 'same', revision: 1 };
    };
  }
}

function builtClass(file: string, name: string): Readings {
  return (built(file) as Record<string, { prototype: Readings }>)[name]!.prototype;
}

/** A built file. No export: no other code should do that. */
function built(file: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require(join(process.env['NODE_PATH']!, '@raindrop/node/dist', file));
}
