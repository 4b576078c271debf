import type { RaindropError } from '@raindrop/core';

/** A key and its value, as text. */
export type Entries = ReadonlyMap<string, string>;

/** What a store of keys has at one moment, and which one it is. */
export interface Seen {
  readonly entries: Entries;
  /** Names the cluster that answered. */
  readonly cluster: string;
  /** Of the moment; within a cluster it only goes up. */
  readonly revision: number;
}

export interface Change {
  /** What was read: it must stand there still. */
  readonly seen: Seen;
  /** The key that gets another text. */
  readonly key: string;
  readonly text: string;
  /** Other keys that must not have changed. */
  readonly guards?: readonly string[];
  /** A key that goes away by itself that long after the last change, ms, where the store knows such; 0 removes it. */
  readonly live?: { readonly key: string; readonly forMs: number };
}

/** Keys and values on servers that agree: etcd, NATS. Every read is linearizable. Each call has a deadline of its own. */
export interface KeyValues {
  /** Everything there is, as it was at one moment. */
  readAll(): Promise<Seen>;
  /** What stands at a few keys, as it was at one moment. */
  read(what: string, keys: readonly string[]): Promise<Seen>;
  /**
   * Puts a text where it was read. A failure leaves open whether that was done.
   * @returns false when other things stand there. Where a guard has changed, the text may be there all the same
   */
  change(what: string, change: Change): Promise<boolean>;
  /** Makes the place of the keys where it is missing, puts those that are missing, and touches nothing that is there. */
  addMissing(what: string, wanted: Entries): Promise<void>;
  /** What of the servers' settings may lose acknowledged writes, in words. */
  durabilityWarnings(): Promise<readonly string[]>;
  /** What to throw when the store answers, and nothing can be made of it. */
  unavailable(what: string, reason: string): RaindropError;
  /** Drops what is under way. The next call connects anew. */
  abandon(): void;
  close(): Promise<void>;
}

const TRIES = 10;

/** Changes one key, whatever it holds, by what `next` makes of it. */
export async function update(
  values: KeyValues,
  what: string,
  key: string,
  next: (seen: Seen) => string,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seen = await values.read(what, [key]);
    if (await values.change(what, { seen, key, text: next(seen) })) return;
  }
  throw values.unavailable(what, `others changed ${key} at each of ${TRIES} tries`);
}
