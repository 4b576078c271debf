import { ConfigurationError } from '@raindrop/core';
import type { Change, Entries, KeyValues, Seen } from '../key-values/key-values.js';
import { fencesOf } from '../key-values/worker-record.js';
import {
  type EtcdAnswer,
  EtcdGateway,
  EtcdRefusedError,
  EtcdUnavailableError,
  type ResolvedEtcdAddress,
} from './etcd-gateway.js';

/** Keys in one answer: so many are read in less than a millisecond. */
const PAGE = 128;
/** etcd takes 128 operations in one transaction. */
const MOST_OPERATIONS = 100;

/** The keys of an etcd that begin alike. */
export class EtcdKeyValues implements KeyValues {
  private readonly gateway: EtcdGateway;
  private readonly liveness: EtcdLiveness;
  /** Whether a look has shown that no other table lies inside or around this one. */
  private isApart = false;

  /**
   * @param timeoutMs for one request, with the search for an endpoint that answers
   * @param prefix ends with a slash
   */
  constructor(
    address: ResolvedEtcdAddress,
    timeoutMs: number,
    private readonly prefix: string,
  ) {
    this.gateway = new EtcdGateway(address, timeoutMs);
    this.liveness = new EtcdLiveness(this.gateway);
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError */
  async readAll(): Promise<Seen> {
    const pages = await this.pages('reading the workers');
    return seenIn(pages[0]!, pages);
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError */
  async read(what: string, keys: ReadonlySet<string>): Promise<Seen> {
    const success = Array.from(keys, (key) => get(key));
    const answer = await this.gateway.read(what, '/v3/kv/txn', { success });
    return seenIn(answer, partsOf(answer, keys.size));
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError */
  async change(what: string, { seen, key, text, guards = [], live }: Change): Promise<boolean> {
    const success = [put(key, text)];
    if (live !== undefined) {
      const { forMs } = live;
      success.push(forMs > 0 ? put(live.key, '1', await this.liveness.keep(forMs)) : remove(live.key));
    }
    const compare = [key, ...guards].map((each) => isStill(each, seen.entries.get(each)));
    try {
      const answer = await this.gateway.write(what, '/v3/kv/txn', { compare, success });
      return answer['succeeded'] === true;
    } catch (error) {
      // The cause may be that the lease has ended.
      this.liveness.forget();
      throw error;
    }
  }

  /**
   * Adds the keys that are missing. Keys that are there stay as they are.
   * @throws EtcdUnavailableError; EtcdRefusedError; ConfigurationError for a prefix inside another table's, or around
   * it
   */
  async addMissing(what: string, wanted: Entries): Promise<void> {
    if (wanted.size === 0) return;
    const pages = await this.pages(what, { keys_only: true });
    const { entries } = seenIn(pages[0]!, pages);
    // Looked for once: a table that begins later inside or around this one is refused by itself.
    if (!this.isApart) await refuseOverlap(this.prefix, entries.keys(), (key) => this.readIfAllowed(what, key));
    this.isApart = true;
    const adding = [...wanted]
      .filter(([key]) => !entries.has(key))
      .map(([key, text]) => ({ request_txn: { compare: [isStill(key, undefined)], success: [put(key, text)] } }));
    for (let from = 0; from < adding.length; from += MOST_OPERATIONS) {
      await this.gateway.write(what, '/v3/kv/txn', { success: adding.slice(from, from + MOST_OPERATIONS) });
    }
  }

  /** None: a majority of etcd's members syncs every commit to disk, and no setting that can be read says otherwise. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  unavailable(what: string, reason: string): EtcdUnavailableError {
    return new EtcdUnavailableError(what, reason);
  }

  abandon(): void {
    this.gateway.abandon();
  }

  close(): Promise<void> {
    this.gateway.close();
    return Promise.resolve();
  }

  private async readIfAllowed(what: string, key: string): Promise<string | undefined> {
    try {
      return (await this.read(what, new Set([key]))).entries.get(key);
    } catch (error) {
      if (error instanceof EtcdRefusedError) return undefined;
      throw error;
    }
  }

  /** Reads all keys as they were at one moment, in pages. */
  private async pages(what: string, options = {}): Promise<EtcdAnswer[]> {
    const pages: EtcdAnswer[] = [];
    const range = rangeOf(this.prefix);
    let { key } = range;
    for (;;) {
      const [first] = pages;
      const moment = first === undefined ? {} : { revision: String(seenIn(first, []).revision) };
      const page = await this.gateway.read(what, '/v3/kv/range', { ...range, ...options, ...moment, key, limit: PAGE });
      if (first !== undefined && seenIn(page, []).cluster !== seenIn(first, []).cluster) {
        throw new EtcdUnavailableError(what, 'two clusters answer: do all endpoints belong to the same one?');
      }
      pages.push(page);
      const last = keysIn(page).at(-1);
      if (page['more'] !== true || last === undefined) return pages;
      // The next page begins at the first possible key after the last one.
      key = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.alloc(1)]).toString('base64');
    }
  }
}

export const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** A part of a transaction that reads a key. */
const get = (key: string): object => ({ request_range: { key: toBase64(key) } });

/** @param lease the id of etcd's lease; the key goes when it ends */
const put = (key: string, text: string, lease?: string): object => ({
  request_put: { key: toBase64(key), value: toBase64(text), ...(lease !== undefined && { lease }) },
});

const remove = (key: string): object => ({ request_delete_range: { key: toBase64(key) } });

/**
 * The condition that a key still has that text, or is still missing. By text: another cluster counts revisions anew.
 */
const isStill = (key: string, text: string | undefined): object =>
  text === undefined
    ? { key: toBase64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' }
    : { key: toBase64(key), target: 'VALUE', result: 'EQUAL', value: toBase64(text) };

/** The parts of the answer to a transaction of so many. @throws EtcdUnavailableError for what etcd does not answer */
function partsOf({ responses = [] }: EtcdAnswer, count: number): EtcdAnswer[] {
  if (!Array.isArray(responses) || responses.length !== count) throw noEtcd();
  return responses.map((part: unknown) => Object((Object(part) as EtcdAnswer)['response_range']) as EtcdAnswer);
}

/** The keys in a range of an answer, and their values. @throws EtcdUnavailableError for what etcd does not answer */
function keysIn(range: EtcdAnswer): readonly { readonly key: string; readonly value?: string }[] {
  const { kvs = [] } = range;
  const isText = (value: unknown): boolean => typeof value === 'string';
  const isLegal = ({ key, value = '' }: EtcdAnswer): boolean => isText(key) && isText(value);
  if (Array.isArray(kvs) && kvs.every((each) => isLegal(Object(each) as EtcdAnswer))) {
    return kvs as { key: string; value?: string }[];
  }
  throw noEtcd();
}

/** The keys that were read, the cluster and the revision. @throws EtcdUnavailableError */
function seenIn(answer: EtcdAnswer, ranges: readonly EtcdAnswer[]): Seen {
  const { cluster_id: cluster, revision } = Object(answer['header']) as EtcdAnswer;
  const entries = new Map<string, string>();
  for (const range of ranges) {
    for (const { key, value = '' } of keysIn(range)) entries.set(textOf(key), textOf(value));
  }
  return { entries, cluster: String(cluster), revision: Number(revision) };
}

/** The range of all keys with this prefix. */
export function rangeOf(prefix: string): { readonly key: string; readonly range_end: string } {
  const end = Buffer.from(prefix);
  // Prefixes end with a slash.
  end[end.length - 1]!++;
  return { key: toBase64(prefix), range_end: end.toString('base64') };
}

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString();

const noEtcd = (): EtcdUnavailableError => new EtcdUnavailableError('reading keys', 'the server is not etcd');

/**
 * A lease of etcd. It ends when its holder does not keep it alive: a start then takes the row of a crashed holder
 * without watching it for the length of a lease. Nothing else depends on it.
 */
class EtcdLiveness {
  private lease: { readonly id: string; readonly seconds: number } | undefined;

  constructor(private readonly gateway: EtcdGateway) {}

  /** The lease's id, once it has that long to live again. @throws EtcdUnavailableError; EtcdRefusedError */
  async keep(ms: number): Promise<string> {
    const what = 'keeping a lease';
    const seconds = Math.max(1, Math.ceil(ms / 1_000));
    const { lease } = this;
    if (lease?.seconds === seconds) {
      const answer = await this.gateway.write(what, '/v3/lease/keepalive', { ID: lease.id });
      const { TTL } = Object(answer['result']) as { TTL?: unknown };
      if (Number(TTL) > 0) return lease.id;
    }
    const { ID } = await this.gateway.write(what, '/v3/lease/grant', { TTL: String(seconds) });
    this.lease = { id: String(ID), seconds };
    return this.lease.id;
  }

  /** The next call asks for a new lease. */
  forget(): void {
    this.lease = undefined;
  }
}

const FENCE = 'fence';

/**
 * Refuses a prefix that lies inside the prefix of another table, or around it: an operator who deletes or restores all
 * keys of the outer table changes those of the inner one, too. A table is told by its key `fence`; an application may
 * have keys that are called so, with another text.
 *
 * @param inside the keys that begin with the prefix
 * @param read the text of a key; undefined where there is none, or the account may not read it
 * @throws ConfigurationError
 */
async function refuseOverlap(
  prefix: string,
  inside: Iterable<string>,
  read: (key: string) => Promise<string | undefined>,
): Promise<void> {
  const isFence = (key: string): boolean => key.endsWith(`/${FENCE}`) && key !== `${prefix}${FENCE}`;
  for (const key of [...aroundOf(prefix).map((each) => `${each}${FENCE}`), ...[...inside].filter(isFence)]) {
    const text = await read(key);
    if (text === undefined || !areFences(key, text)) continue;
    const other = key.slice(0, -FENCE.length);
    const message =
      `${other.length > prefix.length ? 'contains' : 'is inside'} the prefix ${other} of another worker table of ` +
      `etcdWorkers(). Choose one that neither starts with another table's prefix nor is the start of it. If IDs were ` +
      `issued with this one, stop its processes, call fenceWorkers() with the new prefix before the next start, and ` +
      `set their layout in the options. If the table at ${other} is no longer used, delete its key ${key}`;
    throw new ConfigurationError([{ option: 'prefix', given: prefix, message }]);
  }
}

/** The prefixes of `a/b/c/`: `a/` and `a/b/`. */
function aroundOf(prefix: string): string[] {
  const names = prefix.split('/').slice(0, -2);
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`);
}

function areFences(key: string, text: string): boolean {
  try {
    fencesOf(key, text);
    return true;
  } catch {
    return false;
  }
}
