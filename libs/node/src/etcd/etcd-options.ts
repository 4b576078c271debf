import { type OptionReader } from '@raindrop/core/internal';

/** How to reach an etcd, from version 3.4, over its JSON gateway. */
export interface EtcdAddress {
  /** The client URLs of one or all members, such as `http://127.0.0.1:2379`. All begin alike: `http://` or `https://`. */
  endpoints: string | readonly string[];
  /** An account, where etcd has them switched on. */
  username?: string;
  password?: string;
  /** The certificate of the authority that signed etcd's, as PEM. Default: those that Node trusts. */
  ca?: string;
}

export interface ResolvedEtcdAddress {
  readonly endpoints: readonly URL[];
  readonly account: { readonly name: string; readonly password: string } | undefined;
  readonly ca: string | undefined;
}

const LEGAL = 'must be the URLs of etcd members, such as http://127.0.0.1:2379, all http or all https';

export function readEtcdAddress(reader: OptionReader): ResolvedEtcdAddress {
  const endpoints = readEndpoints(reader);
  const text = (name: string): string => reader.string(name, { fallback: '', pattern: /^[^]+$/, legal: 'a text' });
  const [name, password, ca] = [text('username'), text('password'), text('ca')];
  if ((name === '') !== (password === '')) {
    reader.problem('username', undefined, 'and password belong together: give both or none');
  }
  return { endpoints, account: name === '' ? undefined : { name, password }, ca: ca === '' ? undefined : ca };
}

function readEndpoints(reader: OptionReader): readonly URL[] {
  const given = reader.value('endpoints');
  const texts: unknown[] = Array.isArray(given) ? given : [given];
  const urls = texts.map((text) => (typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined));
  const scheme = urls[0]?.protocol;
  const isLegal = (url: URL | undefined): url is URL =>
    url !== undefined && url.protocol === scheme && /^https?:$/.test(url.protocol) && url.username === '';
  if (urls.length > 0 && urls.every(isLegal)) return urls;
  // One may hold a password: none is shown.
  reader.problem('endpoints', given === undefined ? undefined : `(${typeof given})`, LEGAL);
  return [];
}
