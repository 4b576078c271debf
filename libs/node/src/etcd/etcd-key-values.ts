import type { Change, Entries, KeyValues, Seen } from '../key-values/key-values.js';
import { EtcdRefusedError, EtcdUnavailableError } from './etcd-errors.js';
import { EtcdGateway, type EtcdAnswer } from './etcd-gateway.js';
import { EtcdLiveness } from './etcd-liveness.js';
import { get, isStill, keysIn, partsOf, put, rangeOf, remove, seenIn } from './etcd-operations.js';
import type { ResolvedEtcdAddress } from './etcd-options.js';
import { refuseOverlap } from './refuse-overlap.js';

/** Keys in one answer, which is read in less than a millisecond. */
const PAGE = 128;
/** etcd takes 128 operations in one transaction. */
const MOST_OPERATIONS = 100;

/** The keys of an etcd that begin alike. */
export class EtcdKeyValues implements KeyValues {
  private readonly gateway: EtcdGateway;
  private readonly liveness: EtcdLiveness;
  /** Whether no table inside or around this one was found. */
  private isApart = false;

  /**
   * @param timeoutMs for one request and what it takes to find who answers it
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
  async read(what: string, keys: readonly string[]): Promise<Seen> {
    const answer = await this.gateway.read(what, '/v3/kv/txn', { success: keys.map((key) => get(key)) });
    return seenIn(answer, partsOf(answer, keys.length));
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
      // The lease may have ended meanwhile, too.
      this.liveness.forget();
      throw error;
    }
  }

  /**
   * Puts those of these keys that are missing, and touches nothing that is there.
   * @throws EtcdUnavailableError; EtcdRefusedError; ConfigurationError for a prefix inside another table's, or around it
   */
  async addMissing(what: string, wanted: Entries): Promise<void> {
    if (wanted.size === 0) return;
    const pages = await this.pages(what, { keys_only: true });
    const { entries } = seenIn(pages[0]!, pages);
    // A table that begins later is refused itself, and must not stop this one.
    if (!this.isApart) await refuseOverlap(this.prefix, entries.keys(), (key) => this.readIfAllowed(what, key));
    this.isApart = true;
    const adding = [...wanted]
      .filter(([key]) => !entries.has(key))
      .map(([key, text]) => ({ request_txn: { compare: [isStill(key, undefined)], success: [put(key, text)] } }));
    for (let from = 0; from < adding.length; from += MOST_OPERATIONS) {
      await this.gateway.write(what, '/v3/kv/txn', { success: adding.slice(from, from + MOST_OPERATIONS) });
    }
  }

  /** etcd syncs every commit of most members to disk, and has no setting to be read that says otherwise. */
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
      return (await this.read(what, [key])).entries.get(key);
    } catch (error) {
      if (error instanceof EtcdRefusedError) return undefined;
      throw error;
    }
  }

  /** All there is at one moment, in answers that are short enough. */
  private async pages(what: string, options = {}): Promise<EtcdAnswer[]> {
    const pages: EtcdAnswer[] = [];
    const range = rangeOf(this.prefix);
    let { key } = range;
    for (;;) {
      const [first] = pages;
      const moment = first === undefined ? {} : { revision: String(seenIn(first, []).revision) };
      const page = await this.gateway.read(what, '/v3/kv/range', { ...range, ...options, ...moment, key, limit: PAGE });
      if (first !== undefined && seenIn(page, []).cluster !== seenIn(first, []).cluster) {
        throw new EtcdUnavailableError(what, 'two clusters answer: do all endpoints belong to one?');
      }
      pages.push(page);
      const last = keysIn(page).at(-1);
      if (page['more'] !== true || last === undefined) return pages;
      // The key behind the last one.
      key = Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.alloc(1)]).toString('base64');
    }
  }
}
