import { sessionAgesOf, type BelievedServer, type MemoryWorkerTable, type SessionAges } from '@raindrop/core/internal';
import type { VirtualTime } from '../../support/engine/virtual-time.js';
import { type Connection, SessionAge } from '../../../libs/node/src/database/database-connection.js';
import type { Dialect } from '../../../libs/node/src/database/dialect.js';
import type { SimulatedServer, SimulatedServers } from './simulated-servers.js';

/** How old sessions may be; a mutant changes it. */
export const SESSION_AGES = { of: sessionAgesOf };

/** One session of a process with the server that was the primary when it began. */
interface Session {
  readonly server: SimulatedServer;
  /** By the host's monotonic clock. */
  readonly begunMs: number;
  /** By the server's. */
  readonly sinceMs: number;
}

/** A statement on its way: whether the session may write is asked on the server, as in libs/node. */
export interface Dispatch {
  readonly session: Session;
  readonly believed: BelievedServer | undefined;
  /** What is added to a write's condition. */
  readonly condition: string;
}

/** Two are enough; a server that is another one at every look is of no use. */
const MOST_LOOKS = 8;

/** The sessions of one process, as OwnDatabase keeps them. */
export class ServerSessions {
  private readonly age = new SessionAge();
  private present: Session | undefined;
  /** Opened beside the present one. */
  private next: Session | undefined;
  private strays = false;

  /** @param openingMs how long it takes to open one; it leads to the server that was the primary when that began */
  constructor(
    private readonly servers: SimulatedServers,
    private readonly host: VirtualTime,
    private readonly ages: SessionAges,
    private readonly openingMs: () => number,
  ) {}

  get former(): SimulatedServer | undefined {
    return this.servers.former;
  }

  /** The session that a look is made with: a young one. */
  forLook(): Session {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const session = this.connected();
      const ageMs = this.age.of(asConnection(session), this.ownAgeMs(session), serverAgeMs(session));
      if (ageMs <= this.ages.maxSessionAgeMs) {
        if (ageMs > this.ages.renewSessionAfterMs) this.next ??= this.open();
        return session;
      }
      this.present = undefined;
    }
    throw new Error('every read reaches another server');
  }

  forWrite(believed: BelievedServer | undefined): Dispatch {
    const session = this.connected();
    const dialect = { sessionAgeMs: 'age' } as Dialect;
    const condition = this.age.andIsYoung(dialect, this.ages.maxSessionAgeMs, this.ownAgeMs(session));
    return { session, believed, condition };
  }

  /** Whether the server executes the write, by the age that it sees. */
  isYoung({ session, condition }: Dispatch): boolean {
    if (!condition.includes('age')) return condition === '';
    return serverAgeMs(session) <= this.ages.maxSessionAgeMs;
  }

  abandon(): void {
    this.present = undefined;
    this.next = undefined;
  }

  /** The next session is led to the former primary. */
  stray(): void {
    this.abandon();
    this.strays = true;
  }

  private connected(): Session {
    if (this.next !== undefined) this.present = this.next;
    this.next = undefined;
    if (this.present?.server.isUp === false) this.present = undefined;
    return (this.present ??= this.open());
  }

  private open(): Session {
    const { former } = this.servers;
    const isLost = this.strays && former?.isUp === true;
    this.strays = false;
    const server = isLost ? former : this.servers.leadFrom(this.openingMs());
    return { server, begunMs: this.host.monotonicMs, sinceMs: server.time.monotonicMs };
  }

  private ownAgeMs({ begunMs }: Session): number {
    return this.host.monotonicMs - begunMs;
  }
}

/** A table as a process sees it: that of the server which executes the statement. */
export class ServedTable implements MemoryWorkerTable {
  constructor(public server: SimulatedServer) {}

  get rows(): MemoryWorkerTable['rows'] {
    return this.server.table.rows;
  }

  get deleted(): MemoryWorkerTable['deleted'] {
    return this.server.table.deleted;
  }

  get layouts(): Set<string> {
    return this.server.table.layouts;
  }

  get term(): string {
    return this.server.table.term;
  }

  get state(): MemoryWorkerTable['state'] {
    return this.server.table.state;
  }

  set state(state: MemoryWorkerTable['state']) {
    this.server.table.state = state;
  }
}

function asConnection(session: Session): Connection {
  return session as unknown as Connection;
}

function serverAgeMs({ server, sinceMs }: Session): number {
  return server.time.monotonicMs - sinceMs;
}
