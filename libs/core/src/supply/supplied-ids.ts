import { CallsByCode, type IdCalls } from '../generator/id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from '../generator/issued-counts.js';
import type { RaindropError } from '../raindrop-error.js';
import { type BatchRequest, Outputs } from '../generator/outputs.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { SuppliedCodes } from './supplied-codes.js';
import type { Stock, Supply, SupplyContext } from './supply.js';

/** IDs that are fetched ahead of need, for every code. */
export abstract class SuppliedIds<One extends Supply> extends CallsByCode<One, SuppliedCodes<One>> implements IdCalls {
  constructor(codes: SuppliedCodes<One>, ctx: SupplyContext) {
    super(codes, new SuppliedOutputs(ctx));
  }

  // The calls for one ID stand here as well as in the base class, whose code all engines share: V8 makes this a fifth
  // faster where a process has several. `segment-generator.spec.ts` compares both.

  override nextId(code?: string): bigint {
    return this.codes.of(code).next();
  }

  override nextString(code?: string): string {
    return this.codes.of(code).nextText();
  }

  refusal(code?: string): RaindropError | undefined {
    return this.codes.refusal(code, (name) => this.notReady(name));
  }

  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.codes.count(options);
  }

  /** How the codes in use stand, in the order in which they came; IDs without a code, where they have a supply, come first. */
  status(): One['status'][] {
    return Array.from(this.codes, ({ status }) => status);
  }

  /** Call it when this process may be a copy of another: what is at hand or under way is never used. */
  afterRestore(): void {
    for (const each of this.codes) each.forget();
  }

  /** Why nobody can have an ID of a code that is not in use yet. */
  protected abstract notReady(code: string): RaindropError;
}

const takeOne = (stock: Stock): bigint => stock.next();

/** Hands out what supplies have at hand. An async batch takes all its IDs at once: one that gives up has taken none. */
export class SuppliedOutputs<One extends Supply> extends Outputs<One> {
  constructor(private readonly ctx: SupplyContext) {
    super(ctx.options.maxBatch);
  }

  id(supply: One): bigint {
    return supply.next();
  }

  text(supply: One): string {
    return supply.nextText();
  }

  number(supply: One): number {
    return supply.nextNumber();
  }

  async idAsync(find: () => One, wait?: WaitOptions): Promise<bigint> {
    const supply = find();
    const { taken, epoch } = await supply.takeSoon(1, takeOne, wait);
    return supply.epoch === epoch ? taken : this.idAsync(find, wait);
  }

  protected write<Batch>(supply: One, order: BatchRequest<Batch>): void {
    supply.take(order.count).write(order, 0, order.count);
  }

  protected async writeAsync<Batch>(find: () => One, order: BatchRequest<Batch>, wait?: WaitOptions): Promise<void> {
    const supply = find();
    const { taken, epoch } = await supply.takeSoon(order.count, (stock) => stock.take(order.count), wait);
    const slice = taken.turnAfter(order);
    for (let from = 0; from < order.count; from += slice) {
      if (from > 0) await this.breathe();
      taken.write(order, from, Math.min(from + slice, order.count));
    }
    // The process was copied meanwhile: the copy gives these.
    if (supply.epoch !== epoch) await this.writeAsync(find, order, wait);
  }

  private breathe(): Promise<void> {
    return new Promise((resolve) => void this.ctx.ports.timers.setTimer(resolve, 0, 'foreground'));
  }
}
