import type { IssuingSlot } from '../issuing-slot.js';

/** What an engine is a kind of: twenty million IDs are wanted of each. */
export type Family = 'PostgreSQL' | 'MariaDB' | 'Galera' | 'Redis' | 'etcd' | 'NATS';

/** Two parts of the network: the side may learn of a new primary before the main part does. */
export type Side = 'main' | 'side';

/** TypeORM's options of a database, or `type` and options of `redis`, `etcd` (`endpoints`) or `nats` (`servers`). */
export type Way = Readonly<Record<string, unknown>>;

/** The processes of a run, as far as a fault is about them. */
export interface Scene {
  /** A process in the main part that may be sent away, and comes back in the time that is lost. */
  readonly comer: IssuingSlot;
  /** A process in the side part that may be sent away, and comes back when a new primary answers. */
  readonly taker: IssuingSlot;
  /** Settles when it issues, or when that time is over. */
  issues(slot: IssuingSlot, withinMs: number): Promise<void>;
}

/** What goes wrong, and is right again when it settles. */
export type Fault = (scene: Scene) => Promise<void>;

/** Servers of a run's own, which all of its processes use. */
export interface Engine {
  /** As the servers say it: `MariaDB 10.11.19, Galera 26.4.23`. */
  readonly versions: string;
  /** By name, fired one after the other, and again from the first one. */
  readonly faults: Readonly<Record<string, Fault>>;
  /** Where a process finds what keeps the worker ids. */
  wayTo(side: Side): Way;
  /** Where it finds the database of its numbers, if that is another one. */
  readonly numbers?: Way;
  /** Ends all servers and removes their files. */
  stop(): Promise<void>;
}

/** Does something while a process is away, which ends in an orderly way and is started again afterwards. */
export async function without(slot: IssuingSlot, work: () => Promise<void>): Promise<void> {
  if (!(await slot.release(work))) await work();
}
