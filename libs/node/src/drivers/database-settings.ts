/**
 * The settings say where a database is, in the words of TypeORM's options: what stands here means the same there.
 * Everything else that a driver takes goes into `extra`.
 */
export interface DatabaseSettings {
  type: 'mysql' | 'mariadb' | 'postgres' | 'better-sqlite3';
  /**
   * In place of host, port, username, password and database. For `dbConfig` with several hosts, each with its port, as in
   * `postgres://app@a:5432,b:5433/app`: see there.
   */
  url?: string;
  /** Default `localhost`. */
  host?: string;
  /** Default the database's usual one. */
  port?: number;
  username?: string;
  password?: string;
  /** Its name; of SQLite the path of the file. */
  database?: string;
  /** MySQL and MariaDB: the socket's path, in place of host and port. */
  socketPath?: string;
  /** As the driver takes it. Default none. */
  ssl?: boolean | object;
  /**
   * PostgreSQL: the schema of tables that are named without one. Default what the URL names (`?schema=`, `currentSchema`,
   * `search_path`), else the connection's own.
   */
  schema?: string;
  /** More options of `pg`, `mysql2` or `better-sqlite3`. */
  extra?: Readonly<Record<string, unknown>>;
}

/** What is legal, in words. */
export const DATABASE_SETTINGS_RULE =
  "a URL that begins with mysql:, mariadb:, postgres: or sqlite:, or settings with type ('mysql', 'mariadb', 'postgres', " +
  "'better-sqlite3'), url, host, port, username, password, database, socketPath, ssl, schema, extra; for more of TypeORM's " +
  'options give dataSourceDatabase(options) of @raindrop/typeorm; or a list of these, for several addresses of one database';

const NAMES = [
  'type',
  'url',
  'host',
  'port',
  'username',
  'password',
  'database',
  'socketPath',
  'ssl',
  'schema',
  'extra',
];

const TYPES: Readonly<Record<string, 'mysql' | 'mariadb' | 'postgres'>> = {
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

/**
 * The settings that a URL, or settings with one, stand for: one for each host of the URL. Undefined when it is neither, or
 * a host is missing.
 */
export function databaseAddressesOf(config: unknown): DatabaseSettings[] | undefined {
  const url = typeof config === 'string' ? config : (config as { readonly url?: unknown } | null | undefined)?.url;
  const found = typeof url === 'string' ? SEVERAL_HOSTS.exec(url.trim())?.groups : undefined;
  const configs =
    found === undefined ? [config] : found['hosts']!.split(',').map((host) => withHost(config, host, found));
  const settings = configs.map(databaseSettingsOf);
  return settings.every((each) => each !== undefined) ? settings : undefined;
}

/** In the password a comma may stand; behind the last @ it divides hosts. */
const SEVERAL_HOSTS =
  /^(?<begin>(?!sqlite:)[a-z]+:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#@]*,[^/?#@]*)(?<end>(?:[/?#].*)?)$/is;

function withHost(config: unknown, host: string, { begin, end }: Readonly<Record<string, string>>): unknown {
  if (host === '') return undefined;
  const url = `${begin}${host}${end}`;
  return typeof config === 'string' ? url : { ...(config as object), url };
}

/**
 * Returns the settings that a URL stands for (`mysql://`, `mariadb://`, `postgres://`, or `sqlite:` with a file's
 * path), or that were given. Undefined when it is neither, or has names that are no settings.
 */
export function databaseSettingsOf(config: unknown): DatabaseSettings | undefined {
  if (typeof config === 'string') return settingsOfUrl(config);
  if (!areSettings(config) || memberProblemOf(config) !== undefined) return undefined;
  const { url, schema } = config;
  if (typeof url !== 'string') return config;
  const named = settingsOfUrl(url);
  if (named === undefined) return undefined;
  const where = schema ?? named.schema;
  return { ...config, url: named.url!, ...(where !== undefined && { schema: where }) };
}

function areSettings(config: unknown): config is DatabaseSettings {
  if (typeof config !== 'object' || config === null) return false;
  const { type } = config as { readonly type?: unknown };
  const isKnown = type === 'better-sqlite3' || Object.values<unknown>(TYPES).includes(type);
  return isKnown && Object.keys(config).every((name) => NAMES.includes(name));
}

/** Of an environment's variables it is a text. */
const isPort = (value: unknown): boolean =>
  /^\d{1,5}$/.test(String(value)) && Number(value) > 0 && Number(value) < 65_536;

/** Drivers would fail on these later, each in words of its own. */
const MEMBERS = [
  ...(['url', 'host', 'username', 'password', 'database', 'socketPath', 'schema'] as const).map((name) => {
    return { name, rule: 'a text', isLegal: (value: unknown) => typeof value === 'string' };
  }),
  { name: 'port', rule: 'a number from 1 to 65535', isLegal: isPort },
  { name: 'extra', rule: 'an object', isLegal: (value: unknown) => typeof value === 'object' },
] as const;

function memberProblemOf(settings: object): string | undefined {
  for (const { name, rule, isLegal } of MEMBERS) {
    const value = (settings as Partial<DatabaseSettings>)[name] as unknown;
    if (value !== undefined && value !== null && !isLegal(value)) return `${name} must be ${rule}`;
  }
  return undefined;
}

/**
 * What is wrong with a URL, or with a member of settings, without showing it; undefined where nothing more can be said.
 */
export function settingsProblemOf(config: unknown): string | undefined {
  const member = areSettings(config) ? memberProblemOf(config) : undefined;
  return member ?? urlProblemOf(config);
}

function urlProblemOf(config: unknown): string | undefined {
  const url = typeof config === 'string' ? config : (config as { readonly url?: unknown } | null | undefined)?.url;
  if (typeof url !== 'string') return undefined;
  const text = url.trim();
  if (SQLITE.test(text)) return sqliteProblem(text);
  const scheme = /^[a-z]+:(?=\/\/)/i.exec(text)?.[0].toLowerCase();
  return scheme !== undefined && scheme in TYPES ? serverProblem(text) : undefined;
}

/** What can be shown of something that is no settings: nothing that may be a password. */
export function describeSettings(config: unknown): string {
  if (typeof config !== 'object' || config === null) return '(hidden)';
  const { type } = config as { readonly type?: unknown };
  const unknown = Object.keys(config).filter((name) => !NAMES.includes(name));
  return `{ type: ${typeof type === 'string' ? `'${type}'` : String(typeof type)}, ${unknown.join(', ')} }`;
}

const SQLITE = /^sqlite:(?:\/\/)?(.+)$/i;

function settingsOfUrl(given: string): DatabaseSettings | undefined {
  const text = given.trim();
  if (urlProblemOf(text) !== undefined) return undefined;
  const sqlite = SQLITE.exec(text);
  if (sqlite !== null) return { type: 'better-sqlite3', database: sqlite[1]! };
  if (!URL.canParse(text)) return undefined;
  const { protocol, searchParams } = new URL(text);
  const type = TYPES[protocol];
  if (type === undefined) return undefined;
  const url = type === 'mariadb' ? text.replace(/^mariadb:/i, 'mysql:') : text;
  const [schema] = schemasIn(searchParams);
  return { type, url, ...(schema !== undefined && { schema }) };
}

/** With these names Prisma, JDBC and libpq say where the tables are; `pg` does not know them. */
const SCHEMA_NAMES = ['schema', 'currentSchema', 'search_path'];

function schemasIn(parameters: URLSearchParams): string[] {
  return [...new Set(SCHEMA_NAMES.flatMap((name) => parameters.getAll(name)).flatMap((each) => each.split(',')))];
}

function sqliteProblem(text: string): string | undefined {
  const [, path = ''] = SQLITE.exec(text)!;
  if (!path.includes('?') || path.startsWith('file:')) return undefined;
  return (
    "takes a file's path behind sqlite: and no parameters, such as ?mode=ro: its tables are written to. Give what " +
    "better-sqlite3 takes in extra, and a name with a ? as { type: 'better-sqlite3', database }"
  );
}

const ENCODE =
  'in user and password percent-encode what has a meaning in a URL: # as %23, / as %2F, ? as %3F, % as %25, @ as %40';

const UNREADABLE =
  'must be a URL such as postgres://user:password@host:5432/name, and cannot be read as one: look at its host and port';

function serverProblem(text: string): string | undefined {
  // Of several hosts the first one will do.
  const single = text.replace(SEVERAL_HOSTS, (_all, begin: string, hosts: string, end: string) => {
    return `${begin}${hosts.split(',')[0]!}${end}`;
  });
  // Before the first @ one of them has ended the part that holds user and password.
  if (!URL.canParse(single)) return /^[a-z]+:\/\/[^@]*[/?#].*@/i.test(text) ? ENCODE : UNREADABLE;
  const { protocol, username, password, pathname, hash, searchParams } = new URL(single);
  const isCut = username === '' && (/@.*\//.test(pathname) || hash.includes('@'));
  if (isCut || !isDecodable(username) || !isDecodable(password)) return ENCODE;
  const schemas = schemasIn(searchParams);
  if (schemas.length === 0) return undefined;
  if (TYPES[protocol] !== 'postgres') return 'has no schema on MySQL and MariaDB: the database stands in the path';
  if (schemas.length === 1 && schemas[0] !== '') return undefined;
  return 'must name one schema in the URL, the one of the tables: ?schema=shop';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
