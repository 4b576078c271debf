import { Outputs, type BatchOrder } from '../generator/outputs.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { Stock } from './stock.js';
import type { Supply } from './supply.js';
import type { SupplyContext } from './supply-context.js';

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

  protected write<Batch>(supply: One, order: BatchOrder<Batch>): void {
    supply.take(order.count).write(order, 0, order.count);
  }

  protected async writeAsync<Batch>(find: () => One, order: BatchOrder<Batch>, wait?: WaitOptions): Promise<void> {
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
