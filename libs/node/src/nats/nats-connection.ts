import { Kvm, type KV } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ClosedError, RaindropError, type Timers } from '@raindrop/core';
import { withDeadline } from '@raindrop/core/internal';
import { problemsOfVersion } from './nats-bucket.js';
import { NatsBucketError, NatsRefusedError, NatsUnavailableError } from './nats-errors.js';
import type { NatsAddress } from './nats-options.js';
import { hearsFrom } from './nats-probe.js';
import { hostTimers } from '../system/host-timers.js';

/** A connection that nobody used for that long is closed: one that stays would keep the process alive. */
const IDLE_MS = 1_000;

const REFUSALS = ['AuthorizationError', 'UserAuthenticationExpiredError', 'PermissionViolationError'];

/** A bucket as one connection shows it. */
export interface OpenBucket {
  readonly kv: KV;
  readonly kvm: Kvm;
  /** Whether the server belongs to others. */
  readonly isCluster: boolean;
}

interface Opened extends OpenBucket {
  readonly connection: NatsConnection;
}

/**
 * A connection to whichever NATS server answers. It is made when it is needed, and closed when nothing is asked for a
 * second, or when an answer is late: nothing is sent twice by itself.
 */
export class BucketConnection {
  private opening: Promise<Opened> | undefined;
  private opened: Opened | undefined;
  private users = 0;
  /** Goes up when everything under way is dropped. */
  private generation = 0;
  private idle: NodeJS.Timeout | undefined;
  private first = 0;
  private isClosed = false;

  constructor(
    private readonly address: NatsAddress,
    private readonly bucket: string,
    private readonly timeoutMs: number,
    private readonly timers: Timers,
  ) {}

  /** @throws NatsUnavailableError, whether it was executed is unknown; NatsRefusedError; NatsBucketError */
  async use<T>(what: string, work: (bucket: OpenBucket) => Promise<T>): Promise<T> {
    hostTimers.clearTimeout(this.idle);
    this.users++;
    const { generation } = this;
    const call = async (): Promise<T> => {
      const opened = await this.open();
      if (generation !== this.generation) throw new Error('the call was abandoned');
      return work(opened);
    };
    try {
      if (this.isClosed) throw new ClosedError();
      return await withDeadline(call, this.timeoutMs, this.timers);
    } catch (error) {
      const known = typed(what, error);
      // Another server may serve.
      if (!(error instanceof RaindropError) && generation === this.generation) this.abandon();
      throw known;
    } finally {
      this.users--;
      if (this.users === 0) this.idle = hostTimers.setTimeout(() => this.abandon(), IDLE_MS).unref();
    }
  }

  /** Drops what is under way. The next call connects anew. */
  abandon(): void {
    hostTimers.clearTimeout(this.idle);
    this.generation++;
    // Whoever was waited for in vain is not asked first again.
    if (this.users > 0) this.first = (this.first + 1) % this.address.servers.length;
    if (this.opened !== undefined) end(this.opened.connection);
    this.opened = undefined;
  }

  close(): void {
    this.isClosed = true;
    this.abandon();
  }

  private open(): Promise<Opened> {
    const { opened } = this;
    if (opened !== undefined && !opened.connection.isClosed()) return Promise.resolve(opened);
    this.opening ??= this.connect().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** Asks one server after the other, first the one that answered last; the time left is for the call. */
  private async connect(): Promise<Opened> {
    const { servers, account } = this.address;
    const timeout = this.timeoutMs / (servers.length + 1);
    for (let tried = 1; ; tried++) {
      const options = {
        ...account,
        servers: servers[this.first]!,
        timeout,
        ...{ reconnect: false, waitOnFirstConnect: false, ignoreClusterUpdates: true },
      };
      try {
        if (account.tls?.handshakeFirst !== true) await hearsFrom(options.servers, timeout);
        return await this.openBucket(await connect(options));
      } catch (error) {
        if (error instanceof RaindropError || refusalIn(error) !== undefined) throw error;
        this.first = (this.first + 1) % servers.length;
        if (tried >= servers.length || this.isClosed) throw error;
      }
    }
  }

  private async openBucket(connection: NatsConnection): Promise<Opened> {
    try {
      if (this.isClosed || this.users === 0) throw new ClosedError();
      const { version = '', cluster } = connection.info ?? {};
      const problems = problemsOfVersion(version);
      if (problems.length > 0) throw new NatsBucketError(this.bucket, problems);
      const kvm = new Kvm(connection);
      const kv = await kvm.open(this.bucket, { allow_direct: false });
      this.opened = { connection, kvm, kv, isCluster: cluster !== undefined };
      return this.opened;
    } catch (error) {
      end(connection);
      throw error;
    }
  }
}

/** Nobody waits for it: a server that is silent would not let go. */
function end(connection: NatsConnection): void {
  connection.close().catch(() => undefined);
}

/** The code of JetStream's answer, if it is one. */
export function answerCodeOf(error: unknown): number | undefined {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  return typeof code === 'number' && /^JetStreamApi|^StreamNotFound|^ConsumerNotFound/.test(String(name))
    ? code
    : undefined;
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

/** What was refused, in the words of the server, whoever passes it on. */
function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // A server that is slow to compare a password says it in the same way.
  const isRefusal = REFUSALS.includes(error.name) && !/timeout/i.test(error.message);
  return isRefusal ? error.message : refusalIn(error.cause);
}

function typed(what: string, error: unknown): RaindropError {
  if (error instanceof RaindropError) return error;
  const refusal = refusalIn(error);
  return refusal === undefined ? new NatsUnavailableError(what, error) : new NatsRefusedError(what, refusal);
}
