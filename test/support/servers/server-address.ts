/** The parts of a server's URL, in the words that mysql2, pg and TypeORM share. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string | undefined;
}

/** @throws TypeError when `url` is no URL with a host. The password is not repeated in the message. */
export function serverAddress(url: string, usualPort: number): ServerAddress {
  if (!URL.canParse(url) || new URL(url).hostname === '') {
    throw new TypeError('the URL cannot be read; expected something like scheme://user:password@127.0.0.1:3306');
  }
  const parsed = new URL(url);
  return {
    // "[::1]" is how a URL writes it, "::1" how a socket takes it.
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: parsed.port === '' ? usualPort : Number(parsed.port),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)) || undefined,
  };
}
