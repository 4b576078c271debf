import { createLayout, type Layout } from '@raindrop/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { IdSource, IdSourceEvents } from './id-source.js';
import type { IssuingOrders } from './issuing-messages.js';
import { WORKER_TABLE } from './worker-update.js';

interface Row {
  readonly id: number;
  readonly version: number;
  readonly heartbeat: number;
}

/** A sequence of one code. */
interface Counter {
  tick: number;
  sequence: number;
}

/**
 * The protocol of the Go original, written anew and small: the negative control of the chaos runs. It must repeat IDs.
 *
 * A row is taken when its heartbeat, a client's clock, is old; the write looks at the version only; a lost row is
 * adopted with the thief's version; no call asks whether the lease still holds; a restart begins at its clock; a clock
 * that goes back turns one bit over, with no memory of where that lane has been.
 */
export class OriginalProtocol implements IdSource {
  private readonly layout: Layout;
  private readonly counters = new Map<string, Counter>();
  private row: Row | undefined;
  private clockBack: 0 | 1 = 0;
  private tick = 0;

  private constructor(
    private readonly database: DataSource,
    private readonly orders: IssuingOrders,
    private readonly events: IdSourceEvents,
  ) {
    this.layout = createLayout(orders.layout, Date.now());
  }

  /** Waits until a row is free. */
  static async open(orders: IssuingOrders, events: IdSourceEvents): Promise<OriginalProtocol> {
    const options = { ...orders.database, poolSize: 2 } as unknown as DataSourceOptions;
    const source = new OriginalProtocol(new DataSource(options), orders, events);
    for (;;) {
      try {
        if (await source.acquire()) break;
      } catch {
        // The original ends its process at a failing database; a process that stays makes the better control.
      }
      await sleep(orders.lease.heartbeatIntervalMs / 2);
    }
    setInterval(() => void source.heartbeat().catch(() => undefined), orders.lease.heartbeatIntervalMs);
    return source;
  }

  nextId(code = ''): bigint {
    const { layout } = this;
    const tick = layout.timeline.tickAt(Date.now());
    if (tick < this.tick) this.clockBack = this.clockBack === 0 ? 1 : 0;
    this.tick = tick;
    const counter = this.counters.get(code) ?? { tick: -1, sequence: 0 };
    counter.sequence = counter.tick === tick ? counter.sequence + 1 : 0;
    counter.tick = tick;
    this.counters.set(code, counter);
    const { sequence } = counter;
    return layout.pack({ tick, workerId: this.row!.id, clockBack: this.clockBack, sequence });
  }

  nextIdAsync(code?: string): Promise<bigint> {
    return Promise.resolve(this.nextId(code));
  }

  fill(target: BigInt64Array, code?: string): BigInt64Array {
    for (let index = 0; index < target.length; index++) target[index] = this.nextId(code);
    return target;
  }

  forCode(code: string): { nextId(): bigint } {
    return { nextId: () => this.nextId(code) };
  }

  private async acquire(): Promise<boolean> {
    if (!this.database.isInitialized) await this.database.initialize();
    const { leaseMs } = this.orders.lease;
    await this.prepare();
    for (const row of await this.rows()) {
      if (row.heartbeat > Date.now() - leaseMs) continue;
      if (await this.write(row)) {
        this.events.onTenure();
        return true;
      }
    }
    return false;
  }

  private async heartbeat(): Promise<void> {
    const row = this.row!;
    if (await this.write(row)) return;
    // Only logged: the version is read again, even if another process wrote it.
    this.row = (await this.rows()).find(({ id }) => id === row.id) ?? row;
  }

  private async write({ id, version }: Row): Promise<boolean> {
    const heartbeat = Date.now();
    const table = this.database.driver.escape(WORKER_TABLE);
    const sql = `UPDATE ${table} SET version = ${version + 1}, heartbeat = ${heartbeat} WHERE id = ${id} AND version = ${version}`;
    const runner = this.database.createQueryRunner();
    try {
      const { affected } = await runner.query(sql, [], true);
      if (affected !== 1) return false;
      this.row = { id, version: version + 1, heartbeat };
      return true;
    } finally {
      await runner.release();
    }
  }

  private async rows(): Promise<Row[]> {
    const found = await this.database.query<Record<keyof Row, unknown>[]>(`SELECT * FROM ${WORKER_TABLE} ORDER BY id`);
    return found.map(({ id, version, heartbeat }) => ({
      id: Number(id),
      version: Number(version),
      heartbeat: Number(heartbeat),
    }));
  }

  private async prepare(): Promise<void> {
    const columns = 'id bigint PRIMARY KEY, version bigint NOT NULL, heartbeat bigint NOT NULL';
    await this.database.query(`CREATE TABLE IF NOT EXISTS ${WORKER_TABLE} (${columns})`);
    const { serviceMinWorkId, serviceMaxWorkId } = this.orders.layout;
    for (let id = serviceMinWorkId; id <= serviceMaxWorkId; id++) {
      // Somebody else may have been faster.
      await this.database.query(`INSERT INTO ${WORKER_TABLE} VALUES (${id}, 0, 0)`).catch(() => undefined);
    }
  }
}
