/** IDs by the million, and whether one is among them twice. */
export class FiredIds {
  private ids = new BigInt64Array(1 << 20);
  private held = 0;

  get count(): number {
    return this.held;
  }

  /** Of a body `{"ids":["…"]}`. */
  add(body: string): void {
    for (const id of (JSON.parse(body) as { ids: string[] }).ids) {
      if (this.held === this.ids.length) {
        const longer = new BigInt64Array(this.ids.length * 2);
        longer.set(this.ids);
        this.ids = longer;
      }
      this.ids[this.held++] = BigInt(id);
    }
  }

  /** Some that came more than once. */
  repeated(): bigint[] {
    const sorted = this.ids.slice(0, this.held).sort();
    return [...new Set(sorted.filter((id, index) => index > 0 && id === sorted[index - 1]))].slice(0, 10);
  }
}
