import type { Seen } from '../key-values/key-values.js';
import { hostTimers, monotonicClock } from '../system/system-ports.js';
import { nameOf, NatsBucketError, NatsUnavailableError, type OpenBucket, problemsOfBucket } from './nats-connection.js';

/** A reader puts this key first. A majority of servers has to take it, so what is read then is at least as new. */
const LOOK = 'look';
const DELETED = 'KV-Operation';

type Consumers = OpenBucket['kvm']['js']['consumers'];

/** The keys that were read, with the revision of each: a put names the revision that it replaces. */
export interface NatsSeen extends Seen {
  readonly revisions: ReadonlyMap<string, number>;
}

/** Reads keys of a bucket as they are at one moment. */
export class NatsReader {
  /** Keys that were seen. No key ever goes. */
  private readonly known = new Set<string>();
  /** The cluster of these keys. */
  private knownOf: string | undefined;
  /** Begins the subject of each key. */
  private readonly subject: string;

  /** @param patienceMs how long to wait for a leader */
  constructor(
    private readonly bucket: string,
    private readonly patienceMs: number,
  ) {
    this.subject = `$KV.${bucket}.`;
  }

  /** @param keys default all keys of the bucket */
  async read(bucket: OpenBucket, keys?: ReadonlySet<string>): Promise<NatsSeen> {
    if (keys !== undefined && this.known.size === 0) await this.read(bucket);
    const revision = await led(this.patienceMs, () => bucket.kv.put(LOOK, ''));
    return this.readFrom(bucket, keys && new Set([...keys, LOOK]), revision);
  }

  /**
   * The texts of the keys at a moment with at least that revision, which one of them has. NATS sends the last
   * text of each key as it was at the begin, the oldest first, and then whatever comes. A key that changes meanwhile
   * comes late, so that all that are known to be there are waited for.
   */
  async readFrom(bucket: OpenBucket, keys: ReadonlySet<string> | undefined, least: number): Promise<NatsSeen> {
    const { cluster, count } = await this.status(bucket.kv);
    if (cluster !== this.knownOf) this.known.clear();
    this.knownOf = cluster;
    const wanted = keys && [...keys].filter((key) => this.known.has(key));
    const [entries, revisions] = [new Map<string, string>(), new Map<string, number>()];
    const isAll = (): boolean => wanted?.every((key) => revisions.has(key)) ?? revisions.size >= count;
    let revision = 0;
    const consumer = await led(this.patienceMs, () =>
      this.consumerOf(bucket, keys ? Array.from(keys, natsKeyOf) : ['>']),
    );
    const messages = await consumer.consume();
    try {
      for await (const { subject, seq, headers, data } of messages) {
        const key = keyOfNats(subject.slice(this.subject.length));
        // A key that changed while the read began may come twice.
        if (seq <= (revisions.get(key) ?? 0)) continue;
        revision = Math.max(revision, seq);
        revisions.set(key, seq);
        // A deleted key has left a mark.
        if (headers?.has(DELETED) === true) entries.delete(key);
        else entries.set(key, Buffer.from(data).toString());
        if (revision >= least && isAll()) break;
      }
    } finally {
      messages.stop();
      // NATS removes a consumer whose connection was closed within minutes.
      consumer.delete().catch(() => undefined);
    }
    if (revision < least || !isAll()) throw new NatsUnavailableError('reading keys', 'the answer was cut off');
    if ((await this.status(bucket.kv)).cluster !== cluster) {
      throw new NatsUnavailableError('reading keys', 'the bucket was recreated');
    }
    for (const key of revisions.keys()) this.known.add(key);
    return { entries, revisions, cluster, revision };
  }

  private consumerOf({ kvm }: OpenBucket, keys: readonly string[]): ReturnType<Consumers['getPushConsumer']> {
    const subjects = keys.map((key) => `${this.subject}${key}`);
    return kvm.js.consumers.getPushConsumer(`KV_${this.bucket}`, {
      filter_subjects: subjects,
      deliver_policy: 'last_per_subject',
    });
  }

  /** When the bucket was made, by which it is told from others, and how many keys it has. @throws NatsBucketError */
  private async status(kv: OpenBucket['kv']): Promise<{ readonly cluster: string; readonly count: number }> {
    const { config, created, state } = (await led(this.patienceMs, () => kv.status())).streamInfo;
    const problems = problemsOfBucket(config);
    if (problems.length > 0) throw new NatsBucketError(this.bucket, problems);
    return { cluster: String(created), count: state.num_subjects ?? 0 };
  }
}

/** A key as NATS takes it: what it does not take is written as `=` and two hexadecimal digits. */
export function natsKeyOf(key: string): string {
  return key.replace(/[^\w./-]/g, (sign) => `=${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export function keyOfNats(natsKey: string): string {
  return natsKey.replace(/=([\da-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Names of errors that say that no server got the message. */
const NO_ANSWER_CODES = ['JetStreamNotEnabled', 'NoResponders'];
const AGAIN_MS = 50;

/**
 * Asks until a server leads the bucket: a bucket that was just made, or has lost its leader, has none for a moment.
 * @throws Error when it takes longer
 */
export async function led<T>(withinMs: number, step: () => Promise<T>): Promise<T> {
  const giveUpAt = monotonicClock.now() + withinMs;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!NO_ANSWER_CODES.includes(nameOf(error))) throw error;
      if (monotonicClock.now() > giveUpAt) throw new Error('JetStream is off, or the bucket has no leader');
    }
    await hostTimers.sleep(AGAIN_MS);
  }
}
