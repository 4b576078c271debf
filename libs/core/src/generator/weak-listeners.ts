/** Listeners whom nobody has to end: one that nobody else holds any more is forgotten. */
export class WeakListeners<Listener extends object> {
  private readonly refs = new Set<WeakRef<Listener>>();

  add(listener: Listener): void {
    this.tell(() => undefined);
    this.refs.add(new WeakRef(listener));
  }

  /** Calls back for each that is still there. */
  tell(call: (listener: Listener) => void): void {
    for (const ref of this.refs) {
      const listener = ref.deref();
      if (listener === undefined) this.refs.delete(ref);
      else call(listener);
    }
  }
}
