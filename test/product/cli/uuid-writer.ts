import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { shopNames, type KeyType } from './uuid-shop.js';

/** Another transaction had a lock, and nothing was written. */
const BUSY = ['40001', '40P01', '55P03', 'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'];

/** An application that writes into the shop and knows what was acknowledged. */
export class ShopWriter {
  /** Orders and their parents. */
  readonly orders = new Map<string, string | null>();
  /** Lines, and the two orders that each refers to. */
  readonly lines = new Map<number, { readonly order: string; readonly other: string | null }>();
  private readonly gone = new Set<string>();
  private at: number;
  private isStopped = false;

  /** @param old orders that were there before, and stay; `number` tells writers apart */
  constructor(
    private readonly source: DataSource,
    private readonly kind: DatabaseKind,
    private readonly key: KeyType,
    private readonly old: readonly string[],
    number: number,
  ) {
    this.at = 1_000_000 * number;
  }

  /** Writes until it is stopped, or refused. @returns what it was refused with */
  async run(): Promise<Error | undefined> {
    try {
      while (!this.isStopped) await this.write();
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  stop(): void {
    this.isStopped = true;
  }

  private async write(): Promise<void> {
    const { orders, lines, orderId } = shopNames(this.kind);
    const sql = (uuid: string | null): string => (uuid === null ? 'NULL' : this.key.sql(uuid));
    const at = ++this.at;
    const id = randomUUID();
    const parent = [...this.orders.keys()].at(-1) ?? this.old[at % this.old.length]!;
    const insert = `INSERT INTO ${orders} (id, tenant, parent_id, made) VALUES (${sql(id)}, 1, ${sql(parent)}, '2025-01-01')`;
    // Every fourth is written twice, as an upsert is.
    const upsert =
      this.kind === 'postgres' ? ' ON CONFLICT (id) DO UPDATE SET tenant = 1' : ' ON DUPLICATE KEY UPDATE tenant = 1';
    await this.query(at % 4 === 0 ? insert + upsert : insert);
    this.orders.set(id, parent);
    if (at % 4 === 0) await this.query(insert + upsert);
    const other = this.old[(at * 7) % this.old.length]!;
    await this.query(
      `INSERT INTO ${lines} (id, tenant, ${orderId}, other, product) VALUES (${at}, 1, ${sql(id)}, ${sql(other)}, 1)`,
    );
    this.lines.set(at, { order: id, other });
    if (at % 3 === 0) {
      await this.query(`UPDATE ${lines} SET other = ${sql(parent)} WHERE id = ${at}`);
      this.lines.set(at, { order: id, other: parent });
    }
    if (at % 5 !== 0) return;
    // Its lines go with it; what else refers to it loses that.
    const victim = [...this.orders.keys()].at(-2);
    if (victim === undefined) return;
    const answer = await this.query(`DELETE FROM ${orders} WHERE id = ${sql(victim)}`);
    // A server that compares a text with a number only says that no row is like it.
    if (rowsOf(answer) === 0) throw new Error('the order to delete is not there');
    this.gone.add(victim);
    this.orders.delete(victim);
    for (const [each, of] of this.orders) if (of === victim) this.orders.set(each, null);
    for (const [each, line] of this.lines) {
      if (line.order === victim) this.lines.delete(each);
      else if (line.other === victim) this.lines.set(each, { ...line, other: null });
    }
  }

  private query(sql: string): Promise<unknown> {
    return queryAgain(this.source, sql);
  }
}

/** Runs a statement, and once more where it has given way to another transaction. */
export async function queryAgain(source: DataSource, sql: string, tries = 50): Promise<unknown> {
  try {
    return await source.query(sql);
  } catch (error) {
    if (tries <= 1 || !BUSY.includes(String((error as { code?: string }).code))) throw error;
    return queryAgain(source, sql, tries - 1);
  }
}

/** How many rows a DELETE has found. */
function rowsOf(answer: unknown): number {
  return Array.isArray(answer) ? Number(answer[1]) : (answer as { affectedRows: number }).affectedRows;
}
