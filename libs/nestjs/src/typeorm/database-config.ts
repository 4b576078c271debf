import type { DataSourceOptions } from 'typeorm';

/** A database of its own for the lease: TypeORM options, or a URL. */
export type DatabaseConfig = DataSourceOptions | string;

/** What a {@link DatabaseConfig} comes to. */
export type DatabaseOptions = DataSourceOptions;

/** What is legal, in words. */
export const DATABASE_CONFIG_RULE =
  'a URL that begins with mysql:, mariadb:, postgres: or sqlite:, or TypeORM DataSourceOptions with a type';

const TYPES: Readonly<Record<string, 'mysql' | 'mariadb' | 'postgres'>> = {
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

/**
 * TypeORM options of a database: given as such, or by URL (`mysql://`, `mariadb://`, `postgres://`, or `sqlite:` with a
 * file's path). Undefined when it is none of these.
 */
export function databaseOptionsOf(config: unknown): DatabaseOptions | undefined {
  if (typeof config === 'string') return optionsOfUrl(config);
  const isOptions =
    typeof config === 'object' && config !== null && typeof (config as { type?: unknown }).type === 'string';
  return isOptions ? (config as DataSourceOptions) : undefined;
}

function optionsOfUrl(text: string): DatabaseOptions | undefined {
  const sqlite = /^sqlite:(?:\/\/)?(.+)$/i.exec(text);
  if (sqlite !== null) return { type: 'better-sqlite3', database: sqlite[1]! };
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password } = new URL(text);
  const type = TYPES[protocol];
  if (type === undefined || !isDecodable(username) || !isDecodable(password)) return undefined;
  return { type, url: type === 'mariadb' ? text.replace(/^mariadb:/i, 'mysql:') : text };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
