/**
 * Runs pieces of asynchronous work one after the other, in the order they were given; a failed one stops nothing.
 *
 * TypeORM has a single connection to a SQLite file. Two transactions at the same time would share it: the second becomes
 * a savepoint of the first, and a rollback of one undoes what the other wrote.
 */
export class OneAtATime {
  private last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}
