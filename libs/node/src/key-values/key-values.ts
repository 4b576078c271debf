import type { RaindropError } from '@raindrop/core';

/** A key and its value, as text. */
export type Entries = ReadonlyMap<string, string>;

/** The content of a store of keys at one moment, and the store's identity. */
export interface Seen {
  readonly entries: Entries;
  /** Names the cluster that answered. */
  readonly cluster: string;
  /** The revision at that moment. Within one cluster it only goes up. */
  readonly revision: number;
}

export interface Change {
  /** The text that was read: the key must still have it, or still be missing. */
  readonly seen: Seen;
  /** The key that gets another text. */
  readonly key: string;
  readonly text: string;
  /** Other keys that must not have changed. */
  readonly guards?: readonly string[];
  /** A key that goes away by itself so long after the last change, ms, in stores that have such keys; 0 removes it. */
  readonly live?: { readonly key: string; readonly forMs: number };
}

/**
 * Keys and values on servers that agree, such as etcd and NATS. Every read is linearizable. Each call has its own
 * deadline.
 */
export interface KeyValues {
  /** Everything there is, as it was at one moment. */
  readAll(): Promise<Seen>;
  /** The texts of a few keys at one moment. NATS refuses to look at a key twice. */
  read(what: string, keys: ReadonlySet<string>): Promise<Seen>;
  /**
   * Replaces the text of a key. A rejection leaves open whether it was replaced.
   * @returns false when the key has another text, or a guard has changed; in the second case the text may be replaced
   */
  change(what: string, change: Change): Promise<boolean>;
  /**
   * Makes the bucket of the keys where it is missing, and adds the keys that are missing. Keys that are there stay as
   * they are.
   */
  addMissing(what: string, wanted: Entries): Promise<void>;
  /** Which of the servers' settings may lose acknowledged writes, in words. */
  durabilityWarnings(): Promise<readonly string[]>;
  /** Makes the error for an answer that is of no use. */
  unavailable(what: string, reason: string): RaindropError;
  /** Drops the calls under way. The next call connects anew. */
  abandon(): void;
  close(): Promise<void>;
}

const TRIES = 10;

/**
 * Changes the text of one key to what `next` makes of it, against any number of other writers.
 * @param others what `next` sees besides; they may change meanwhile
 */
export async function update(
  values: KeyValues,
  what: string,
  key: string,
  next: (seen: Seen) => string,
  others: readonly string[] = [],
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seen = await values.read(what, new Set([key, ...others]));
    if (await values.change(what, { seen, key, text: next(seen) })) return;
  }
  throw values.unavailable(what, `others changed ${key} at each of ${TRIES} attempts`);
}
