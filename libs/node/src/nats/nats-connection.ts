import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { type KV, Kvm } from '@nats-io/kv';
import { connect as openSocket } from 'node:net';
import { ClosedError, RaindropError, type Timers } from '@raindrop/core';
import { PermanentError, UnavailableError, type OptionReader, withDeadline } from '@raindrop/core/internal';
import { hostTimers } from '../system/system-ports.js';

/**
 * No NATS answered, or it could not serve. Whether the call was executed is unknown. Nothing of its outcome is used.
 */
export class NatsUnavailableError extends UnavailableError {
  static override readonly name = 'NatsUnavailableError';
  readonly errorCode = 'NATS_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('NATS', what, cause);
  }
}

/** NATS refuses the account, or the account may not do this; nothing was executed. */
export class NatsRefusedError extends PermanentError {
  static override readonly name = 'NatsRefusedError';
  readonly errorCode = 'NATS_REFUSED';

  constructor(what: string, reason: string) {
    super(
      `NATS refuses ${what}: ${reason}. Correct the account in the connection of natsWorkers(), and let it publish to ` +
        `$JS.API.>, $JS.FC.> and the subjects of the bucket ($KV.BUCKET.>), and subscribe to _INBOX.>`,
    );
  }
}

/** The bucket, or the server, may lose what it has acknowledged; nothing was executed. */
export class NatsBucketError extends PermanentError {
  static override readonly name = 'NatsBucketError';
  readonly errorCode = 'NATS_BUCKET';

  constructor(
    readonly bucket: string,
    readonly problems: readonly string[],
  ) {
    super(`The NATS bucket ${bucket} is not safe for worker ids: ${problems.join('; ')}`);
  }
}

/**
 * The URL of a NATS server, or the options of `connect()` of `@nats-io/transport-node`; `servers` lists all of them.
 */
export type NatsTarget = string | NodeConnectionOptions;

export interface NatsAddress {
  /** Such as `nats-0:4222`. */
  readonly servers: readonly string[];
  /** Everything else of the options. */
  readonly account: NodeConnectionOptions;
}

const LEGAL =
  'must be the URL of a NATS server, or the options of connect() with servers, a string or a list; give an account ' +
  'as user and pass';

export function readNatsAddress(reader: OptionReader, name: string): NatsAddress {
  const given = reader.value(name);
  const { servers, ...account } = (typeof given === 'string' ? { servers: given } : Object(given)) as {
    servers?: unknown;
  };
  const texts: readonly unknown[] = Array.isArray(servers) ? servers : [servers];
  const isText = (text: unknown): text is string => typeof text === 'string' && placeOf(text) !== undefined;
  if (texts.length > 0 && texts.every(isText)) return { servers: texts, account };
  // One may hold a password: none is shown.
  reader.problem(name, given === undefined ? undefined : `(${typeof given})`, LEGAL);
  return { servers: [], account };
}

/** How long a connection stays open without a call, ms: an open connection keeps the process alive. */
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
  /** Goes up when the calls under way are dropped. */
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

  /** Drops the calls under way. The next call connects anew. */
  abandon(): void {
    hostTimers.clearTimeout(this.idle);
    this.generation++;
    // The server that did not answer in time is not asked first again.
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
        reconnect: false,
        waitOnFirstConnect: false,
        ignoreClusterUpdates: true,
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

/** Closes a connection without waiting: close() of a silent server would not settle. */
function end(connection: NatsConnection): void {
  connection.close().catch(() => undefined);
}

/** The code of an error that JetStream has answered; undefined for other errors. */
export function answerCodeOf(error: unknown): number | undefined {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  return typeof code === 'number' && /^JetStreamApi|^StreamNotFound|^ConsumerNotFound/.test(String(name))
    ? code
    : undefined;
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

/** The server's words for a refusal, also inside an error that wraps it; undefined for other errors. */
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

/** The settings of the stream under a bucket that matter here. */
interface StreamSettings {
  readonly storage?: string;
  readonly retention?: string;
  readonly discard?: string;
  readonly num_replicas?: number;
  readonly max_msgs_per_subject?: number;
  readonly max_age?: number;
  readonly max_bytes?: number;
  readonly max_msgs?: number;
  readonly no_ack?: boolean;
  readonly persist_mode?: string;
  readonly mirror?: unknown;
  readonly sources?: unknown;
}

/** How many texts of a key the bucket must keep: more than a key gets while one call lasts. */
export const LEAST_HISTORY = 16;

/** Before it, whole streams were lost when processes were killed (nats-io/nats-server#6888). */
const SAFE_VERSION = [2, 10, 23];

/** Why a server of this version would lose acknowledged writes, in words; empty when it would not. */
export function problemsOfVersion(version: string): string[] {
  const parts = version.split(/[.-]/).map(Number);
  const different = SAFE_VERSION.findIndex((part, index) => part !== parts[index]);
  if (different < 0 || parts[different]! > SAFE_VERSION[different]!) return [];
  return [`nats-server ${version} can lose a stream when it is killed: use ${SAFE_VERSION.join('.')} or later`];
}

/** Which of a bucket's settings would lose acknowledged writes, in words. */
export function problemsOfBucket(settings: StreamSettings): string[] {
  const { storage, retention, discard, no_ack: noAck, persist_mode: persistMode, mirror } = settings;
  const { max_age: maxAge = 0, max_bytes: maxBytes = -1, max_msgs: maxMessages = -1 } = settings;
  const sources = Array.isArray(settings.sources) ? settings.sources.length : 0;
  const { max_msgs_per_subject: history = -1 } = settings;
  const isLimited = maxBytes > 0 || maxMessages > 0;
  const problems: readonly (readonly [boolean, string])[] = [
    [storage !== 'file', `storage is ${storage}: create a bucket with storage file`],
    [retention !== 'limits', `retention is ${retention}: create a bucket with retention limits`],
    [history < LEAST_HISTORY, `history is ${history}: set it to ${LEAST_HISTORY}, at most 64`],
    [maxAge > 0, 'values expire (ttl): set max_age to 0'],
    [discard === 'old' && isLimited, 'it drops old values when it is full: set discard to new'],
    [noAck === true, 'it acknowledges nothing (no_ack): create another bucket'],
    [persistMode === 'async', 'it acknowledges before it writes (persist_mode async): create another bucket'],
    [mirror != null || sources > 0, 'it copies another stream: use the original bucket'],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

/** How acknowledged writes may still be lost, in words. */
export function warningsOf(
  { num_replicas: replicas = 1 }: StreamSettings,
  isCluster: boolean,
  isSynced: boolean,
): string[] {
  const warnings: string[] = [];
  if (isCluster && replicas < 3) {
    warnings.push(
      `the NATS bucket has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} in a cluster: while one server is ` +
        `down, no worker id can be leased, and a lost disk loses the rows. Set num_replicas to 3`,
    );
  }
  if (!isSynced) {
    warnings.push(
      'NATS acknowledges writes before they are on disk: if most servers lose power at once, the last two minutes ' +
        'may be lost. Set sync_interval to always on each server and syncAlways to true in natsWorkers(), or set ' +
        'commitLossWindowMs to 120000',
    );
  }
  return warnings;
}

const USUAL_PORT = 4_222;

/** Where a server is, by its URL or `host:port`; undefined for what is neither. */
function placeOf(server: string): { readonly host: string; readonly port: number } | undefined {
  const text = server.includes('://') ? server : `nats://${server}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, username, password } = new URL(text);
  if (hostname === '' || username !== '' || password !== '') return undefined;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? USUAL_PORT : Number(port) };
}

/**
 * Resolves when a server says something by itself, as NATS does. The client leaves a socket open for ever when it gives
 * up on a server that is silent; this one is closed in any case.
 * @throws Error in words of the system, or when it says nothing in time
 */
function hearsFrom(server: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(placeOf(server)!);
    const timer = hostTimers
      .setTimeout(() => socket.destroy(new Error(`${server} does not answer`)), timeoutMs)
      .unref();
    socket.once('data', () => {
      resolve();
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      hostTimers.clearTimeout(timer);
      reject(new Error(`${server} closes the connection`));
    });
  });
}
