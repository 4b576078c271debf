import type { DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';

/** A database of its own for the lease: TypeORM options, or a URL. */
export type DatabaseConfig = DataSourceOptions | string;

const TYPES: Readonly<Record<string, 'mysql' | 'mariadb' | 'postgres'>> = {
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

/**
 * TypeORM options of a database given by URL: `mysql://`, `mariadb://`, `postgres://`, or `sqlite:` with a file's path.
 * The URL may hold a password: it appears in no message.
 * @throws ConfigurationError when it is none of these
 */
export function dataSourceOptionsOf(config: DatabaseConfig): DataSourceOptions {
  if (typeof config !== 'string') return config;
  const sqlite = /^sqlite:(?:\/\/)?(.+)$/i.exec(config);
  if (sqlite !== null) return { type: 'better-sqlite3', database: sqlite[1]! };
  const type = URL.canParse(config) ? TYPES[new URL(config).protocol] : undefined;
  if (type !== undefined) return { type, url: type === 'mariadb' ? config.replace(/^mariadb:/i, 'mysql:') : config };
  throw new ConfigurationError([
    {
      option: 'dbConfig',
      given: 'a text',
      message: 'must be a URL that begins with mysql:, mariadb:, postgres: or sqlite:, or TypeORM DataSourceOptions',
    },
  ]);
}
