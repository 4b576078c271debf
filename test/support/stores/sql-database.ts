import type { DataSourceOptions } from 'typeorm';
import type { SqlDatabase } from '../../../libs/node/src/database/sql-database.js';
import { databaseSettingsOf } from '../../../libs/node/src/drivers/database-settings.js';
import { settingsDatabase } from '../../../libs/node/src/drivers/settings-database.js';
import { dataSourceDatabase } from '../../../libs/typeorm/src/connection/data-source-database.js';
import { isFull } from '../../tier.js';
import { isOfNodeSqlite } from '../servers/sqlite-connection.js';

/** The ways in which connections of ours are opened: by a driver, or by a DataSource of TypeORM over the same driver. */
export const PORTS = ['driver', 'DataSource'] as const;

export type Port = (typeof PORTS)[number];

let current: Port = 'driver';

/** With Node's own SQLite there is one port: TypeORM has no driver over it. */
const portsOfRun: readonly Port[] = isOfNodeSqlite ? ['driver'] : PORTS;

/** Defines the tests once for each port; {@link sqlDatabase} takes that one while they run. */
export function overBothPorts(define: (port: Port) => void): void {
  overPorts(portsOfRun, define);
}

/** By the driver in `npm test`, by both in `npm run test:all`: for files that both run (`shared` of tiers.cjs). */
export function overPortsOfTier(define: (port: Port) => void): void {
  overPorts(isFull ? portsOfRun : ['driver'], define);
}

function overPorts(ports: readonly Port[], define: (port: Port) => void): void {
  describe.each(ports)('by %s', (port) => {
    beforeAll(() => void (current = port));
    beforeEach(() => void (current = port));
    afterAll(() => void (current = 'driver'));
    define(port);
  });
}

/** A database that tests name by TypeORM's options, for connections of ours. */
export function sqlDatabase(options: object, port: Port = current): SqlDatabase {
  // What only TypeORM knows goes by TypeORM.
  const settings = port === 'driver' ? databaseSettingsOf(options) : undefined;
  return settings === undefined
    ? dataSourceDatabase(options as DataSourceOptions)
    : settingsDatabase(settings, 'dbConfig');
}
