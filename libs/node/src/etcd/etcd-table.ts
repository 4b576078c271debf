import { EtcdUnavailableError } from './etcd-errors.js';
import type { EtcdAnswer, EtcdGateway } from './etcd-gateway.js';
import { getKey, isStill, keysIn, partsOf, put, seenIn, type Entries, type EtcdKeys, type Seen } from './etcd-keys.js';

/** Keys in one answer, which is read in less than a millisecond. */
const PAGE = 128;
/** etcd takes 128 operations in one transaction. */
const MOST_OPERATIONS = 100;
const TRIES = 10;

/** Reads and changes of the keys of a table of workers; every read is linearizable. */
export class EtcdTable {
  constructor(
    private readonly gateway: EtcdGateway,
    private readonly keys: EtcdKeys,
  ) {}

  /** Everything there is, as it was at one moment. */
  async readAll(): Promise<Seen> {
    const pages = await this.pages('reading the workers', this.keys.all);
    return seenIn(pages[0]!, pages);
  }

  /** What stands at a few keys, as it was at one moment. */
  async read(what: string, keys: readonly string[]): Promise<Seen> {
    const answer = await this.gateway.read(what, '/v3/kv/txn', { success: keys.map((key) => getKey(key)) });
    return seenIn(answer, partsOf(answer, keys.length));
  }

  /**
   * Changes keys if others are as they were read.
   * @param expected keys with their values, undefined for a key that is not there
   * @returns whether it did, and then what the changes answered; else what stands at the keys instead
   */
  async change(
    what: string,
    expected: ReadonlyMap<string, string | undefined>,
    changes: readonly object[],
  ): Promise<{ readonly isDone: boolean; readonly answers: readonly EtcdAnswer[]; readonly seen: Seen }> {
    const answer = await this.gateway.write(what, '/v3/kv/txn', {
      compare: [...expected].map(([key, text]) => isStill(key, text)),
      success: changes,
      failure: [...expected.keys()].map((key) => getKey(key)),
    });
    const isDone = answer['succeeded'] === true;
    const answers = partsOf(answer, isDone ? changes.length : expected.size);
    return { isDone, answers, seen: seenIn(answer, answers) };
  }

  /** Changes one key, whatever it holds, by what `next` makes of it; nothing when that is undefined. */
  async update(
    what: string,
    key: string,
    next: (text: string | undefined) => string | undefined,
    others: readonly object[] = [],
  ): Promise<readonly EtcdAnswer[]> {
    let { entries } = await this.read(what, [key]);
    for (let tries = 0; tries < TRIES; tries++) {
      const text = next(entries.get(key));
      if (text === undefined) return [];
      const { isDone, answers, seen } = await this.change(what, new Map([[key, entries.get(key)]]), [
        put(key, text),
        ...others,
      ]);
      if (isDone) return answers;
      ({ entries } = seen);
    }
    throw new EtcdUnavailableError(what, `others changed ${key} at each of ${TRIES} tries`);
  }

  /** Puts those of these keys that are missing, and touches nothing that is there. */
  async addMissing(what: string, wanted: Entries): Promise<void> {
    const pages = await this.pages(what, this.keys.all, { keys_only: true });
    const { entries } = seenIn(pages[0]!, pages);
    const adding = [...wanted]
      .filter(([key]) => !entries.has(key))
      .map(([key, text]) => ({ request_txn: { compare: [isStill(key, undefined)], success: [put(key, text)] } }));
    for (let from = 0; from < adding.length; from += MOST_OPERATIONS) {
      await this.gateway.write(what, '/v3/kv/txn', { success: adding.slice(from, from + MOST_OPERATIONS) });
    }
  }

  /** All of a range at one moment, in answers that are short enough. */
  private async pages(what: string, range: { key: string; range_end: string }, options = {}): Promise<EtcdAnswer[]> {
    const pages: EtcdAnswer[] = [];
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
