/** Lets a thread hear of a change that another one makes to a shared word, without blocking. */
export interface WordChanges {
  /**
   * Settles when somebody notifies of `words[index]`, at once when it is not `value` any more. It keeps no process
   * alive. Undefined where nothing can be heard: then there are timers only.
   */
  changed(words: Int32Array, index: number, value: number): Promise<unknown> | undefined;
}

/** `Atomics.waitAsync`, which Node and browsers have, and the library of ES2022 does not know yet. */
interface WaitingAtomics {
  waitAsync?(words: Int32Array, index: number, value: number): { readonly value: Promise<string> | string };
}

/** Changes by `Atomics`. */
export const atomicChanges: WordChanges = {
  changed(words, index, value) {
    const heard = (Atomics as WaitingAtomics).waitAsync?.(words, index, value);
    return heard === undefined ? undefined : Promise.resolve(heard.value);
  },
};
