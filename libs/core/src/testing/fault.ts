import type { VirtualTime } from './virtual-time.js';

/** What may happen to one call on its way. */
export type Fault =
  /** Refused before it was executed. */
  | { readonly kind: 'refused' }
  /** Executed, and the connection broke before the answer. */
  | { readonly kind: 'answer-lost' }
  /** Never executed, never answered: a half-open connection. */
  | { readonly kind: 'hangs' }
  /** Never answered, and executed later, after the client has given up. */
  | { readonly kind: 'ghost'; readonly afterMs: number }
  /** Takes its time on the way there, and on the way back. */
  | { readonly kind: 'slow'; readonly thereMs: number; readonly backMs: number };

/** A new one each time: whoever waits for a promise is kept by it, and with him all that he knows. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** Lets so much of a time go by. */
export function passing(time: VirtualTime, ms: number): Promise<void> {
  return new Promise((resolve) => void time.setTimer(resolve, ms));
}

/**
 * Executes a call that meets a fault, or none.
 * @param there the time that passes on the other end
 */
export async function meet<T>(fault: Fault | undefined, there: VirtualTime, execute: () => T | Promise<T>): Promise<T> {
  switch (fault?.kind) {
    case undefined:
      return execute();
    case 'refused':
      throw new Error('connect ECONNREFUSED');
    case 'answer-lost':
      await execute();
      throw new Error('read ECONNRESET');
    case 'hangs':
      return never();
    case 'ghost':
      await passing(there, fault.afterMs);
      await execute();
      return never();
    case 'slow': {
      await passing(there, fault.thereMs);
      const answer = await execute();
      await passing(there, fault.backMs);
      return answer;
    }
  }
}
