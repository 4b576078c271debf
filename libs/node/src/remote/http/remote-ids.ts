import { option, type OptionReader, type OptionsOf, readOptions } from '@raindrop/core/internal';
import { type RemoteFetchOptions, remoteIdSource, type RemoteIdSource } from '../remote-id-source.js';
import { HttpTransport } from './http-transport.js';

const remoteIdsOptions = {
  /**
   * Where the service is, `https://ids.internal` or with a path: `/v1/ids` is added to it.
   * @range an http: or https: URL without user, password, query and fragment
   */
  url: option<string, URL | undefined>(readUrl, { isRequired: true }),
  /**
   * Sent as `Authorization: Bearer ...`. It is never logged.
   * @range 1-1,024 visible ASCII characters
   * @defaultValue none
   */
  apiKey: option<string | undefined, string | undefined>(readApiKey),
};

/** The options of `remoteIds()`. */
export interface RemoteIdsOptions extends RemoteFetchOptions, OptionsOf<typeof remoteIdsOptions> {}

/**
 * Makes an ID service over HTTP, such as `apps/demo`, the source of a service's IDs. Batches are fetched ahead of need:
 * after the first ones, no call waits for a round trip.
 *
 * The layout is that of the ID service. Where this service has layout options, they must give the same one.
 */
export function remoteIds(options: RemoteIdsOptions): RemoteIdSource {
  return remoteIdSource('remoteIds()', options, (reader) => {
    const { url, apiKey } = readOptions(reader, remoteIdsOptions);
    return ({ randomness }) => new HttpTransport(url!, apiKey, randomness);
  });
}

/** The message does not show the value: it may hold a password. */
function readUrl(reader: OptionReader, name: string): URL | undefined {
  const given = reader.value(name);
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === '';
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return url;
  const legal = `an http: or https: URL without user, password, query and fragment: 'http://ids:3000'`;
  reader.problem(
    name,
    typeof given === 'string' ? '(hidden)' : given,
    `${given === undefined ? 'is required' : 'must be'}: ${legal}`,
  );
  return undefined;
}

/** Reads an API key. No message shows its value. */
export function readApiKey(reader: OptionReader, name: string): string | undefined {
  const given = reader.value(name);
  if (given === undefined) return undefined;
  if (typeof given === 'string' && /^[\x21-\x7e]{1,1024}$/.test(given)) return given;
  reader.problem(
    name,
    typeof given === 'string' ? '(hidden)' : given,
    'must be a text of 1 to 1,024 visible ASCII characters, without white space',
  );
  return undefined;
}
