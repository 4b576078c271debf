import { join } from 'node:path';
import type { Dialect } from '../../libs/node/src/database/dialect.js';

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
  if (type === 'etcd') return breakClusters();
  // No export: nobody else should do that.
  const file = join(process.env['NODE_PATH']!, '@raindrop/node/dist/database/supported-database.js');
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const built = require(file) as { dialectOf(type: string, zone?: string): Dialect };
  const { dialectOf } = built;
  built.dialectOf = (type, zone) => {
    const dialect = dialectOf(type, zone);
    return { ...dialect, term: SAME_SERVER[dialect.family], termOfWrite: `'same'`, sessionAgeMs: '0' };
  };
}

/** The same of etcd: every cluster is the same one, and no revision goes back. */
function breakClusters(): void {
  const file = join(process.env['NODE_PATH']!, '@raindrop/node/dist/etcd/etcd-table.js');
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { EtcdTable } = require(file) as { EtcdTable: { prototype: Record<'read' | 'readAll', Reading> } };
  for (const name of ['read', 'readAll'] as const) {
    const read = EtcdTable.prototype[name];
    EtcdTable.prototype[name] = async function (this: object, ...args) {
      return { ...(await read.apply(this, args)), cluster: 'same', revision: 1 };
    };
  }
}

type Reading = (this: object, ...args: unknown[]) => Promise<object>;
