import { RaindropError } from '@raindrop/core';
import { RetryableError, withDeadline } from '@raindrop/core/internal';
import { systemTimers } from '../system/system-ports.js';
import { DatabaseCallError } from './database-errors.js';
import { type Connection, DatabaseConnection, type ServerSession } from './database-connection.js';
import type { Dialect, SqlValue, StatementResult } from './dialect.js';
import { REPLICA, ReplicaError } from './server-term.js';
import type { SqlDatabase } from './sql-database.js';

/** One address, and the outcome of asking it. */
interface Trial {
  readonly address: SqlDatabase;
  /** Without account and password. */
  readonly name: string;
  readonly connection: DatabaseConnection;
  failure?: RaindropError;
  /** See Dialect, as what follows; undefined where the server cannot tell. */
  term?: string;
  destination?: string;
  startedAt?: string;
}

/** An address that serves, or has served. */
type Served = Omit<Trial, 'connection' | 'failure'>;

/**
 * One connection to the first of several addresses whose server takes writes.
 *
 * All are asked at once, and every answer is waited for, for half of `opTimeoutMs` at most: silent addresses cost no
 * more than that, however many there are. Two servers that take writes and are not the same are refused: each would
 * have a worker table of its own, or one is a primary that was replaced and lives on.
 */
export class AddressedConnection implements Connection {
  private readonly trials: readonly Trial[];
  private opening: Promise<Trial> | undefined;
  private found: Trial | undefined;
  private isDestroyed = false;

  /**
   * @param addresses in the order in which they are preferred; `all` in the order in which they were given
   * @param last the address that has served before
   */
  constructor(
    addresses: readonly SqlDatabase[],
    private readonly all: readonly SqlDatabase[],
    private readonly last: Served | undefined,
    private readonly dialect: Dialect,
    private readonly opTimeoutMs: number,
  ) {
    this.trials = addresses.map((address) => ({
      address,
      name: `${all.indexOf(address) + 1}. ${address.place.replace(/ +/g, ' ').trim()}`,
      connection: new DatabaseConnection(address, dialect, opTimeoutMs / 2),
    }));
  }

  get isUsable(): boolean {
    return !this.isDestroyed && (this.found === undefined || this.found.connection.isUsable);
  }

  get address(): SqlDatabase | undefined {
    return this.found?.address;
  }

  get unanswered(): ServerSession | undefined {
    return this.found?.connection.unanswered;
  }

  get ageMs(): number | undefined {
    return this.found?.connection.ageMs;
  }

  /** The address that serves; undefined before it is known. */
  get served(): Served | undefined {
    return this.found;
  }

  get warnings(): readonly string[] {
    const isTrouble = ({ failure }: Trial): boolean => failure !== undefined && !(failure instanceof ReplicaError);
    return this.trials.filter(isTrouble).map((trial) => `one of several addresses is unusable: ${wordsOf(trial)}`);
  }

  async open(): Promise<void> {
    await this.opened();
  }

  async run(sql: string, values?: readonly SqlValue[]): Promise<StatementResult> {
    return (await this.opened()).connection.run(sql, values);
  }

  destroy(reason: Error): void {
    this.isDestroyed = true;
    for (const { connection } of this.trials) connection.destroy(reason);
  }

  async close(): Promise<void> {
    this.isDestroyed = true;
    const open = this.found === undefined ? this.trials : [this.found];
    await Promise.all(open.map(({ connection }) => connection.close()));
  }

  private opened(): Promise<Trial> {
    this.opening ??= this.choose();
    return this.opening;
  }

  /** @throws AddressConflictError; DatabaseCallError naming every address, and what is wrong with it */
  private async choose(): Promise<Trial> {
    await Promise.all(this.trials.map((trial) => this.ask(trial)));
    const serving = this.trials.filter(({ failure }) => failure === undefined);
    const [first] = serving;
    try {
      if (this.isDestroyed) throw new DatabaseCallError('the connection was dropped', '');
      if (first === undefined) throw noneServes(this.trials);
      this.refuseOthers(serving);
    } catch (error) {
      this.destroy(new Error('no address was chosen'));
      throw error;
    }
    this.found = first;
    for (const { connection } of this.trials) if (connection !== first.connection) void connection.close();
    return first;
  }

  private async ask(trial: Trial): Promise<void> {
    const { connection } = trial;
    try {
      await withDeadline(() => this.readTerm(trial), this.opTimeoutMs / 2, systemTimers);
    } catch (error) {
      trial.failure = error instanceof RaindropError ? error : DatabaseCallError.from(error);
      connection.destroy(new Error('this address is unusable'));
    }
  }

  private async readTerm(trial: Trial): Promise<void> {
    const { dialect } = this;
    const { connection } = trial;
    await connection.open();
    try {
      const { term: asked, destination: where, startedAt } = dialect;
      const sql = `SELECT ${asked} AS term, ${where} AS destination, ${startedAt} AS started_at`;
      const { term, destination, started_at } = (await connection.run(sql)).records[0] ?? {};
      if (term === REPLICA) throw new ReplicaError();
      if (typeof destination !== 'string' || destination === '') return;
      Object.assign(trial, { term: String(term), destination, startedAt: String(started_at) });
    } catch (error) {
      if (!(error instanceof DatabaseCallError) || !dialect.lacksTerm(error.driverCode)) throw error;
    }
  }

  private refuseOthers(serving: readonly Trial[]): void {
    const [first, ...others] = serving;
    const isThere = ({ destination }: Served): boolean =>
      destination !== undefined && destination === first!.destination;
    if (!others.every((each) => isThere(each) && each.startedAt === first!.startedAt)) throw this.conflict(serving);
    const { last } = this;
    if (last === undefined || serving.some(({ address }) => address === last.address)) return;
    // A server promoted in its place would have another term. The same server, started anew, has the same destination.
    if (first!.term === last.term && !isThere(last)) throw this.conflict([last, first!]);
  }

  private conflict(addresses: readonly Served[]): AddressConflictError {
    const names = addresses.map(({ name }) => name);
    return new AddressConflictError(names, this.all[0]!.configuredBy);
  }
}

function noneServes(trials: readonly Trial[]): RaindropError {
  const failures = trials.map(({ failure }) => failure!);
  // An error that has nothing to do with an address is thrown as it is.
  const other = failures.find((failure) => !(failure instanceof DatabaseCallError || failure instanceof ReplicaError));
  if (other !== undefined) return other;
  const codes = new Set(failures.map((failure) => (failure instanceof DatabaseCallError ? failure.driverCode : '')));
  const code = codes.size === 1 ? [...codes][0]! : '';
  return new DatabaseCallError(`no address is usable: ${trials.map(wordsOf).join('; ')}`, code);
}

function wordsOf({ name, failure }: Trial): string {
  return `${name}: ${failure instanceof ReplicaError ? 'a replica, which refuses writes' : failure!.message}`;
}

/** One database, several ways to it. @param databases of the same type and schema, one at least */
export function withAddresses(databases: readonly SqlDatabase[]): SqlDatabase {
  const [first] = databases;
  if (databases.length === 1) return first!;
  const { type, schema, configuredBy, isVolatile } = first!;
  return {
    type,
    schema,
    configuredBy,
    isVolatile,
    addresses: databases,
    place: databases.map(({ place }) => place).join(', '),
    warnings: () => [...new Set(databases.flatMap((each) => each.warnings()))],
    driver: (opTimeoutMs, sockets) => first!.driver(opTimeoutMs, sockets),
  };
}

/** The addresses of a database, and from which one on they are preferred: behind the one that was lost last. */
export class Addresses {
  private readonly all: readonly SqlDatabase[];
  private first = 0;
  private last: Served | undefined;

  constructor(database: SqlDatabase) {
    this.all = database.addresses ?? [database];
  }

  /** A connection, which is not open yet. */
  connection(dialect: Dialect, opTimeoutMs: number): Connection {
    const { all, first } = this;
    if (all.length === 1) return new DatabaseConnection(all[0]!, dialect, opTimeoutMs);
    const preferred = [...all.slice(first), ...all.slice(0, first)];
    return new AddressedConnection(preferred, all, this.last, dialect, opTimeoutMs);
  }

  /** A connection of ours was lost, or given up. */
  leave(connection: Connection): void {
    const served = connection instanceof AddressedConnection ? connection.served : undefined;
    if (served === undefined) return;
    this.last = served;
    this.first = (this.all.indexOf(served.address) + 1) % this.all.length;
  }
}

/** Several addresses lead to servers that accept writes, but not to the same database. */
export class AddressConflictError extends RetryableError {
  static override readonly name = 'AddressConflictError';
  readonly errorCode = 'ADDRESS_CONFLICT';

  constructor(
    /** Those that take writes, without account and password. */
    readonly addresses: readonly string[],
    configuredBy: string,
  ) {
    super(
      `The addresses in ${configuredBy} lead to different databases that all accept writes, or that cannot be told ` +
        `apart: ${addresses.join(', ')}. Use addresses of one server, of a primary and its replicas, or of one ` +
        `cluster; stop a replaced primary, or make it read-only.`,
    );
  }
}
