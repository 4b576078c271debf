/** What `setTimer` answers; cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * One-shot timers. A `background` timer must not keep the process alive; a `foreground` one, on which a caller is
 * waiting, does.
 */
export interface Timers {
  setTimer(callback: () => void, delayMs: number, kind: 'background' | 'foreground'): Timer;
}
