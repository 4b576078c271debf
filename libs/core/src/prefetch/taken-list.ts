import { TEXTS } from '../generator/batch-form.js';
import type { BatchOrder } from '../generator/outputs.js';
import type { TakenIds } from '../supply/stock.js';

/** After so many texts others get a turn of the event loop; nothing else takes long. */
const SLICE = 2_048;

/** IDs that were taken together, as a list. */
export class TakenList implements TakenIds {
  constructor(private readonly ids: readonly bigint[]) {}

  write<Batch>({ batch, form }: BatchOrder<Batch>, from: number, end: number): void {
    for (let index = from; index < end; index++) form.put(batch, index, this.ids[index]!);
  }

  turnAfter({ form }: BatchOrder<unknown>): number {
    return form === TEXTS ? SLICE : this.ids.length;
  }
}
