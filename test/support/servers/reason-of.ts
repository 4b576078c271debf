/** What went wrong in one readable piece; an AggregateError of refused connections has a code but no message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
