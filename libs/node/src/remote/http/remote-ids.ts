import type { OptionReader } from '@raindrop/core/internal';
import { type RemoteFetchOptions, remoteIdSource, type RemoteIdSource } from '../remote-id-source.js';
import { HttpTransport } from './http-transport.js';

/** The options of {@link remoteIds}. */
export interface RemoteIdsOptions extends RemoteFetchOptions {
  /** The address of the service, such as `https://ids.internal`; `/v1/ids` is added to its path. */
  url: string;
  /** Sent as `Authorization: Bearer ...`; 1-1,024 visible ASCII characters. Default: none. It is never logged. */
  apiKey?: string | undefined;
}

/**
 * Makes an ID service over HTTP, such as `apps/demo`, the source of a service's IDs. Batches are fetched ahead of need:
 * after the first ones, no call waits for a round trip.
 *
 * The layout is that of the ID service. Where this service has layout options, they must give the same one.
 */
export function remoteIds(options: RemoteIdsOptions): RemoteIdSource {
  return remoteIdSource('remoteIds()', options, (reader) => {
    const url = readUrl(reader);
    const apiKey = readApiKey(reader);
    return ({ randomness }) => new HttpTransport(url!, apiKey, randomness);
  });
}

/** The message does not show the value: it may hold a password. */
function readUrl(reader: OptionReader): URL | undefined {
  const given = reader.value('url');
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === '';
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return url;
  const legal = `an http: or https: URL without user, password, query and fragment: 'http://ids:3000'`;
  reader.problem(
    'url',
    typeof given === 'string' ? '(hidden)' : given,
    `${given === undefined ? 'is required' : 'must be'}: ${legal}`,
  );
  return undefined;
}

/** Reads `apiKey`. No message shows its value. */
export function readApiKey(reader: OptionReader): string | undefined {
  const given = reader.value('apiKey');
  if (given === undefined) return undefined;
  if (typeof given === 'string' && /^[\x21-\x7e]{1,1024}$/.test(given)) return given;
  reader.problem(
    'apiKey',
    typeof given === 'string' ? '(hidden)' : given,
    'must be a text of 1 to 1,024 visible ASCII characters, without white space',
  );
  return undefined;
}
