/**
 * Calls code of the application's that nobody could catch: from timers, and in the middle of renewals. What it throws, or
 * rejects with, becomes a process warning that names who did.
 */
export function guarded(who: string, call: () => unknown): void {
  const report = (error: unknown): void => process.emitWarning(`${who} threw: ${wordsOf(error)}`, 'RaindropWarning');
  try {
    Promise.resolve(call()).catch(report);
  } catch (error) {
    report(error);
  }
}

/** Of what was thrown nothing is certain, not even that it can be looked at. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}` : `something that is no Error (${typeof error})`;
  } catch {
    return 'something without words';
  }
}
