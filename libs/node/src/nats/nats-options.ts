import type { OptionReader } from '@raindrop/core/internal';
import { placeOf } from './nats-probe.js';
import type { NodeConnectionOptions } from '@nats-io/transport-node';

/** The URL of a NATS server, or the options of `connect()` of `@nats-io/transport-node`; `servers` lists all of them. */
export type NatsTarget = string | NodeConnectionOptions;

export interface NatsAddress {
  /** Such as `nats-0:4222`. */
  readonly servers: readonly string[];
  /** Everything else of the options. */
  readonly account: NodeConnectionOptions;
}

const LEGAL =
  'must be the URL of a NATS server, or the options of connect() with servers: a text, or several of them; an account is given as user and pass';

export function readNatsAddress(reader: OptionReader): NatsAddress {
  const given = reader.value('connection');
  const { servers, ...account } = (typeof given === 'string' ? { servers: given } : Object(given)) as {
    servers?: unknown;
  };
  const texts: readonly unknown[] = Array.isArray(servers) ? servers : [servers];
  const isText = (text: unknown): text is string => typeof text === 'string' && placeOf(text) !== undefined;
  if (texts.length > 0 && texts.every(isText)) return { servers: texts, account };
  // One may hold a password: none is shown.
  reader.problem('connection', given === undefined ? undefined : `(${typeof given})`, LEGAL);
  return { servers: [], account };
}
