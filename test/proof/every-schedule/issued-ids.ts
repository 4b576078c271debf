/** IDs of layouts with the same bits, and which of them one (worker id, lane) has issued. */
export class IssuedIds {
  private readonly all: Set<bigint>;
  private readonly ofLane: Map<number, bigint[]>;

  /** @param lowBits how many bits of an ID are below its time: worker id, lane and sequence */
  constructor(
    private readonly lowBits: number,
    private readonly sequenceBits: number,
    from?: IssuedIds,
  ) {
    this.all = new Set(from?.all);
    this.ofLane = new Map([...(from?.ofLane ?? [])].map(([lane, ids]) => [lane, [...ids]]));
  }

  copy(): IssuedIds {
    return new IssuedIds(this.lowBits, this.sequenceBits, this);
  }

  has(id: bigint): boolean {
    return this.all.has(id);
  }

  add(id: bigint): void {
    this.all.add(id);
    const lane = this.laneOf(id);
    const ids = this.ofLane.get(lane);
    if (ids === undefined) this.ofLane.set(lane, [id]);
    else ids.push(id);
  }

  /**
   * Those of the same worker id and lane that are larger, the smallest first. A process that has issued an ID below one
   * of them comes to it when it lives on: a new holder has to begin after all of them.
   */
  after(id: bigint): bigint[] {
    const larger = (this.ofLane.get(this.laneOf(id)) ?? []).filter((each) => each > id);
    return larger.sort((a, b) => (a < b ? -1 : 1));
  }

  /** The tick of an ID, counted from the epoch of its layout. */
  tickOf(id: bigint): number {
    return Number(id >> BigInt(this.lowBits));
  }

  /** The highest tick of each worker id and lane. */
  get highest(): [lane: number, tick: number][] {
    return [...this.ofLane]
      .map(([lane, ids]): [number, number] => [lane, this.tickOf(ids.reduce((a, b) => (a > b ? a : b)))])
      .sort(([a], [b]) => a - b);
  }

  /** Worker id and lane, as one number. */
  private laneOf(id: bigint): number {
    return Number((id & ((1n << BigInt(this.lowBits)) - 1n)) >> BigInt(this.sequenceBits));
  }
}
