/** The servers the tests talk to. MySQL is used where its URL is given and started nowhere. SQLite is embedded. */
export type ServerKind = 'mariadb' | 'postgres' | 'redis' | 'mysql';

export interface ServerFacts {
  readonly title: string;
  /** The environment variable that names the server, and through which the global set-up tells the tests. */
  readonly variable: string;
  /** Protocol and account of a server without a configured URL: those that a fresh local install or container accepts. */
  readonly scheme: string;
  readonly account: string;
  /** What follows the port in the URL: the database to connect to while creating another. */
  readonly path: string;
  readonly usualPort: number;
  /** The Debian package that brings the server; also how the error for a missing one names the remedy. */
  readonly aptPackage: string;
}

export const serverFacts: Readonly<Record<ServerKind, ServerFacts>> = {
  mariadb: {
    title: 'MariaDB',
    variable: 'RAINDROP_TEST_MARIADB_URL',
    scheme: 'mariadb',
    account: 'root@',
    path: '',
    usualPort: 3306,
    aptPackage: 'mariadb-server',
  },
  postgres: {
    title: 'PostgreSQL',
    variable: 'RAINDROP_TEST_POSTGRES_URL',
    scheme: 'postgres',
    account: 'postgres@',
    path: '/postgres',
    usualPort: 5432,
    aptPackage: 'postgresql',
  },
  redis: {
    title: 'Redis',
    variable: 'RAINDROP_TEST_REDIS_URL',
    scheme: 'redis',
    account: '',
    path: '',
    usualPort: 6379,
    aptPackage: 'redis-server',
  },
  mysql: {
    title: 'MySQL',
    variable: 'RAINDROP_TEST_MYSQL_URL',
    scheme: 'mysql',
    account: 'root@',
    path: '',
    usualPort: 3307,
    aptPackage: 'mysql-server',
  },
};

/** Of the servers that docker-compose.yml has for tests, where there is an account. */
export const COMPOSE_PASSWORD = 'raindrop';

/** The URL of a server on this machine; without a password, of one that asks for none. */
export function localUrl(kind: ServerKind, port: number, password = ''): string {
  const { scheme, account, path } = serverFacts[kind];
  const withPassword = password === '' ? account : account.replace('@', `:${password}@`);
  return `${scheme}://${withPassword}127.0.0.1:${port}${path}`;
}
