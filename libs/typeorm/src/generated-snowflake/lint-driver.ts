import type { DataSource } from 'typeorm';
import type { EntityProblem } from './entity-lint.js';
import type { SnowflakeProperty } from './snowflake-form.js';

/** A problem before it is known whose. */
export type Fault = Pick<EntityProblem, 'severity' | 'problem' | 'cure'>;

const TESTED: readonly string[] = ['mysql', 'mariadb', 'postgres', 'better-sqlite3'];

/** Their drivers hand over every integer as a JavaScript number. */
const ROUNDING: readonly string[] = ['sqlite', 'sqljs', 'expo', 'react-native', 'cordova', 'nativescript', 'capacitor'];

/** A value that a driver or a type parser must not round. */
const LARGE = '9223372036854775807';

/** What keeps a DataSource's driver from delivering exact IDs. */
export function driverFaults(dataSource: DataSource, as: SnowflakeProperty): Fault[] {
  const { type } = dataSource.options as { type: string };
  if (type === 'mongodb') {
    return [error('MongoDB has no such columns', 'Set the property yourself, with ids.nextString()')];
  }
  if (ROUNDING.includes(type)) {
    return as === 'number' ? [] : [error('its driver rounds integers past 2^53 - 1', `Use 'better-sqlite3'`)];
  }
  if (!TESTED.includes(type)) {
    const problem = 'Raindrop is not tested with this database';
    return [{ severity: 'warning', problem, cure: 'Check that a 19-digit ID comes back digit for digit' }];
  }
  return as === 'number' ? [] : settingFaults(dataSource);
}

function settingFaults({ options, driver }: DataSource): Fault[] {
  const settings = { ...(options as { extra?: object }).extra, ...options } as {
    supportBigNumbers?: boolean;
    parseInt8?: boolean;
  };
  if (/^(mysql|mariadb)$/.test(options.type) && settings.supportBigNumbers === false) {
    return [error('supportBigNumbers: false makes mysql2 round IDs', 'Leave it out: true is the default')];
  }
  if (options.type !== 'postgres') return [];
  const { types } = (driver as { postgres?: { types?: PostgresTypes } }).postgres ?? {};
  const parsed = types?.getTypeParser?.(20)?.(LARGE);
  if (settings.parseInt8 !== true && typeof parsed !== 'number') return [];
  return [error('pg was told to parse int8 as a number, which rounds IDs', 'Take parseInt8, or the type parser, away')];
}

interface PostgresTypes {
  getTypeParser?(oid: 20): ((text: string) => unknown) | undefined;
}

function error(problem: string, cure: string): Fault {
  return { severity: 'error', problem, cure };
}
