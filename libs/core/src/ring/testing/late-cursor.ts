import { RingCursor } from '../ring-cursor.js';

/**
 * The negative control: reads the slots after it has moved the head, the order of uid-generator's RingBuffer. From the
 * move on the producer may write over them.
 */
export class LateCursor extends RingCursor {
  protected override claim(): boolean {
    const { memory } = this;
    for (;;) {
      const { head } = memory;
      const left = memory.tail - head;
      const count = Math.min(left, this.run.length);
      if (left - count < memory.slots.length / 2) memory.demand();
      if (count === 0) return false;
      if (!memory.moveHead(head, head + count)) continue;
      this.copy(head, count);
      this.hold(count);
      return true;
    }
  }
}
