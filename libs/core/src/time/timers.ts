/** A timer that was set; cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  /** The callback is not called any more. */
  cancel(): void;
}

/**
 * One-shot timers. A `background` timer must not keep the process alive; a `foreground` one, on which a caller is
 * waiting, does.
 */
export interface Timers {
  /** Calls back once, after `delayMs` ms. */
  setTimer(callback: () => void, delayMs: number, kind: 'background' | 'foreground'): Timer;
}
