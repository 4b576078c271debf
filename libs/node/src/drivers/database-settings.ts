/**
 * The settings say where a database is. Their names are those of TypeORM's options, and mean the same. Other options of
 * a driver go into `extra`.
 */
export interface DatabaseSettings {
  type: 'mysql' | 'mariadb' | 'postgres' | 'better-sqlite3';
  /**
   * In place of host, port, username, password and database. In `dbConfig` it may name several hosts, each with its
   * port, as in `postgres://app@a:5432,b:5433/app`.
   */
  url?: string;
  /** Default `localhost`. */
  host?: string;
  /** Default: the usual port of the database, such as 5432. */
  port?: number;
  username?: string;
  password?: string;
  /** The database's name; for SQLite the path of the file. */
  database?: string;
  /** MySQL and MariaDB: the socket's path, in place of host and port. */
  socketPath?: string;
  /** Passed to the driver. Default: none. */
  ssl?: boolean | object;
  /**
   * PostgreSQL: the schema of tables that are named without one. Default: the schema in the URL (`?schema=`,
   * `currentSchema`, `search_path`), else that of the connection.
   */
  schema?: string;
  /** More options of `pg`, `mysql2` or `better-sqlite3`; `node:sqlite` takes `readonly` and `fileMustExist` of these. */
  extra?: Readonly<Record<string, unknown>>;
}

/** The legal URLs of `dbConfig`, for messages to a caller who gave a text, as on a command line. */
const URL_RULE = 'a URL that begins with mysql:, mariadb:, postgres: or sqlite:';

/** The legal values of `dbConfig`, for messages. */
const DATABASE_SETTINGS_RULE =
  `${URL_RULE}, or settings with type ('mysql', 'mariadb', 'postgres', 'better-sqlite3'), url, ` +
  'host, port, username, password, database, socketPath, ssl, schema, extra; for ' +
  'other TypeORM options, dataSourceDatabase(options) of @raindrop/typeorm; or a list of these for several addresses ' +
  'of one database';

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

/** A URL of several hosts: a comma behind the last @ divides hosts, and one before it belongs to the password. */
const SEVERAL_HOSTS =
  /^(?<begin>(?!sqlite:)[a-z]+:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#@]*,[^/?#@]*)(?<end>(?:[/?#].*)?)$/is;

const SQLITE = /^sqlite:(?:\/\/)?(.+)$/i;

/** better-sqlite3 does not read such a URI: it takes it for a path, whose first folder is named `file:`. */
const FILE_URI = /^\s*file:/i;

const PLAIN_PATH = 'a file path, not a file: URI: /data/a.db in place of file:/data/a.db, or :memory:';

/**
 * The parameters of a URL with which Prisma, JDBC and libpq name the schema, in any case: `currentSchema`; `pg` does not
 * know them.
 */
const SCHEMA_NAMES = ['schema', 'currentschema', 'search_path'];

const ENCODE =
  'in user and password, percent-encode special characters: # as %23, / as %2F, ? as %3F, % as %25, @ as %40';

const UNREADABLE = 'must be a valid URL such as postgres://user:password@host:5432/name: check its host and port';

/**
 * Reads a URL, or settings that may hold one, into settings for each host of the URL. Undefined when the given value is
 * neither, or a host is missing.
 */
export function databaseAddressesOf(config: unknown): DatabaseSettings[] | undefined {
  const url = typeof config === 'string' ? config : (config as { readonly url?: unknown } | null | undefined)?.url;
  const found = typeof url === 'string' ? SEVERAL_HOSTS.exec(url.trim())?.groups : undefined;
  const configs =
    found === undefined ? [config] : found['hosts']!.split(',').map((host) => withHost(config, host, found));
  const settings = configs.map(databaseSettingsOf);
  return settings.every((each) => each !== undefined) ? settings : undefined;
}

function withHost(config: unknown, host: string, { begin, end }: Readonly<Record<string, string>>): unknown {
  if (host === '') return undefined;
  const url = `${begin}${host}${end}`;
  return typeof config === 'string' ? url : { ...(config as object), url };
}

/**
 * Reads a URL (`mysql://`, `mariadb://`, `postgres://`, or `sqlite:` with a file's path) into settings; settings are
 * returned as they are. Undefined when the given value is neither, or has a property that is no setting.
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

/** A text is legal too: environment variables are texts. */
const isPort = (value: unknown): boolean =>
  (typeof value === 'number' || typeof value === 'string') &&
  /^\d{1,5}$/.test(String(value)) &&
  Number(value) > 0 &&
  Number(value) < 65_536;

/** Values of other types would fail later, in each driver with another error. */
const MEMBERS = [
  ...(['url', 'host', 'username', 'password', 'database', 'socketPath', 'schema'] as const).map((name) => {
    return { name, rule: 'a string', isLegal: (value: unknown) => typeof value === 'string' };
  }),
  { name: 'port', rule: 'a number from 1 to 65535', isLegal: isPort },
  { name: 'extra', rule: 'an object', isLegal: (value: unknown) => typeof value === 'object' },
] as const;

function memberProblemOf(settings: object): string | undefined {
  for (const { name, rule, isLegal } of MEMBERS) {
    const value = (settings as Partial<DatabaseSettings>)[name] as unknown;
    if (value !== undefined && value !== null && !isLegal(value)) return `${name} must be ${rule}`;
  }
  const { type, database } = settings as Partial<DatabaseSettings>;
  const isUri = type === 'better-sqlite3' && FILE_URI.test(database ?? '');
  return isUri ? `database must be ${PLAIN_PATH}` : undefined;
}

/** Says what is wrong with a URL, or with settings, or what is legal. The message does not show the value. */
export function settingsProblemOf(config: unknown): string {
  const member = areSettings(config) ? memberProblemOf(config) : undefined;
  return member ?? urlProblemOf(config) ?? `must be ${typeof config === 'string' ? URL_RULE : DATABASE_SETTINGS_RULE}`;
}

function urlProblemOf(config: unknown): string | undefined {
  const url = typeof config === 'string' ? config : (config as { readonly url?: unknown } | null | undefined)?.url;
  if (typeof url !== 'string') return undefined;
  const text = url.trim();
  if (SQLITE.test(text)) return sqliteProblem(text);
  const scheme = /^[a-z]+:(?=\/\/)/i.exec(text)?.[0].toLowerCase();
  return scheme !== undefined && scheme in TYPES ? serverProblem(text) : undefined;
}

/** Describes settings that are not legal, for messages: only the type and the names of unknown properties. */
export function describeSettings(config: unknown): string {
  if (typeof config !== 'object' || config === null) return '(hidden)';
  const { type } = config as { readonly type?: unknown };
  const unknown = Object.keys(config).filter((name) => !NAMES.includes(name));
  const shown = typeof type === 'string' ? `'${type}'` : typeof type;
  return `{ ${[`type: ${shown}`, ...unknown].join(', ')} }`;
}

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

function schemasIn(parameters: URLSearchParams): string[] {
  const named = [...parameters].filter(([name]) => SCHEMA_NAMES.includes(name.toLowerCase()));
  return [...new Set(named.flatMap(([, schemas]) => schemas.split(',')))];
}

function sqliteProblem(text: string): string | undefined {
  const [, path = ''] = SQLITE.exec(text)!;
  if (FILE_URI.test(path)) return `must be sqlite: and ${PLAIN_PATH}`;
  if (!path.includes('?')) return undefined;
  return (
    'must be sqlite: and a file path without parameters such as ?mode=ro: Raindrop writes there. Pass options of ' +
    "better-sqlite3 in extra, and a name that contains ? as { type: 'better-sqlite3', database }"
  );
}

function serverProblem(text: string): string | undefined {
  // The URL class knows one host only: the first one stands for all.
  const single = text.replace(SEVERAL_HOSTS, (_all, begin: string, hosts: string, end: string) => {
    return `${begin}${hosts.split(',')[0]!}${end}`;
  });
  // A / or ? or # before the first @ ends the part of user and password too early.
  if (!URL.canParse(single)) return /^[a-z]+:\/\/[^@]*[/?#].*@/i.test(text) ? ENCODE : UNREADABLE;
  const { protocol, username, password, pathname, hash, searchParams } = new URL(single);
  const isCut = username === '' && (/@.*\//.test(pathname) || hash.includes('@'));
  if (isCut || !isDecodable(username) || !isDecodable(password)) return ENCODE;
  const schemas = schemasIn(searchParams);
  if (schemas.length === 0) return undefined;
  if (TYPES[protocol] !== 'postgres') return 'has no schema on MySQL and MariaDB: name the database in the path';
  if (schemas.length === 1 && schemas[0] !== '') return undefined;
  return 'must name one schema in the URL, for the tables: ?schema=shop';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
