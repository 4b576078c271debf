import type { Timers } from '@raindrop/core';
import type { Change, Entries, KeyValues, Seen } from '../key-values/key-values.js';
import { led, natsKeyOf, NatsReader, type NatsSeen } from './nats-reader.js';
import {
  answerCodeOf,
  BucketConnection,
  LEAST_HISTORY,
  type NatsAddress,
  NatsUnavailableError,
  type OpenBucket,
  warningsOf,
} from './nats-connection.js';

/** Rows that are put at once. */
const PUT_AT_ONCE = 100;
const MOST_REPLICAS = 3;

/** JetStream's codes: the key has another revision, or another process puts it at this moment. */
const OTHERS_WERE_FASTER = [10_071, 10_164];
const NO_STREAM = 10_059;

interface NatsKeyValuesOptions {
  readonly address: NatsAddress;
  readonly bucket: string;
  /** Whether each server syncs every write to disk. */
  readonly syncAlways: boolean;
  /** Limit for one call, ms. */
  readonly timeoutMs: number;
  readonly timers: Timers;
}

/** The keys of a bucket of NATS. The bucket is made when it is missing. */
export class NatsKeyValues implements KeyValues {
  private readonly connection: BucketConnection;
  private readonly reader: NatsReader;
  private readonly patienceMs: number;

  constructor(private readonly options: NatsKeyValuesOptions) {
    const { address, bucket, timeoutMs, timers } = options;
    this.patienceMs = timeoutMs / 2;
    this.reader = new NatsReader(bucket, this.patienceMs);
    this.connection = new BucketConnection(address, bucket, timeoutMs, timers);
  }

  /** @throws NatsUnavailableError; NatsRefusedError; NatsBucketError */
  readAll(): Promise<Seen> {
    return this.connection.use('reading the workers', (bucket) => this.reader.read(bucket));
  }

  /** @throws NatsUnavailableError; NatsRefusedError; NatsBucketError */
  read(what: string, keys: ReadonlySet<string>): Promise<Seen> {
    return this.connection.use(what, (bucket) => this.reader.read(bucket, keys));
  }

  /**
   * NATS compares one key only. So the guards are read after the put, at a moment that is not before it: a guard that
   * has not changed by then had not changed at the put.
   * @throws NatsUnavailableError; NatsRefusedError; NatsBucketError
   */
  change(what: string, { seen, key, text, guards = [] }: Change): Promise<boolean> {
    const { revisions, cluster } = seen as NatsSeen;
    return this.connection.use(what, async (bucket) => {
      const revision = await this.put(bucket, key, text, revisions.get(key));
      if (revision === undefined) return false;
      const after = await this.reader.readFrom(bucket, new Set([key, ...guards]), revision);
      const isSame = (each: string): boolean => after.revisions.get(each) === revisions.get(each);
      return after.cluster === cluster && guards.every(isSame);
    });
  }

  /** @throws NatsUnavailableError; NatsRefusedError; NatsBucketError */
  async addMissing(what: string, wanted: Entries): Promise<void> {
    const { entries, revisions } = await this.connection.use(what, async (bucket) => {
      await this.createIfMissing(bucket);
      return this.reader.read(bucket);
    });
    const adding = [...wanted].filter(([key]) => !entries.has(key));
    for (let from = 0; from < adding.length; from += PUT_AT_ONCE) {
      const puts = adding.slice(from, from + PUT_AT_ONCE);
      await this.connection.use(what, (bucket) =>
        Promise.all(puts.map(([key, text]) => this.put(bucket, key, text, revisions.get(key)))),
      );
    }
  }

  /** @throws NatsUnavailableError; NatsRefusedError; NatsBucketError */
  durabilityWarnings(): Promise<readonly string[]> {
    return this.connection.use('reading the settings of the bucket', async ({ kv, isCluster }) => {
      const { streamInfo } = await kv.status();
      return warningsOf(streamInfo.config, isCluster, this.options.syncAlways);
    });
  }

  unavailable(what: string, reason: string): NatsUnavailableError {
    return new NatsUnavailableError(what, reason);
  }

  abandon(): void {
    this.connection.abandon();
  }

  close(): Promise<void> {
    this.connection.close();
    return Promise.resolve();
  }

  /** @returns the new revision; undefined when the key has another revision than `previousSeq` */
  private async put({ kv }: OpenBucket, key: string, text: string, previousSeq = 0): Promise<number | undefined> {
    try {
      return await led(this.patienceMs, () => kv.put(natsKeyOf(key), text, { previousSeq }));
    } catch (error) {
      if (OTHERS_WERE_FASTER.includes(answerCodeOf(error) ?? 0)) return undefined;
      throw error;
    }
  }

  private async createIfMissing({ kv, kvm, isCluster }: OpenBucket): Promise<void> {
    try {
      await kv.status();
    } catch (error) {
      if (answerCodeOf(error) !== NO_STREAM) throw error;
      const replicas = isCluster ? MOST_REPLICAS : 1;
      await kvm.create(this.options.bucket, { replicas, history: LEAST_HISTORY, allow_direct: false });
    }
  }
}
