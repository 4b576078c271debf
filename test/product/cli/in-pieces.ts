import type { DataSource } from 'typeorm';

/**
 * Ends the work at a statement, each time a little later, until it gets through.
 * @returns how often it was ended
 */
export async function inPieces(source: DataSource, work: () => Promise<unknown>): Promise<number> {
  const create = source.createQueryRunner.bind(source);
  for (let ends = 0, last = 5; ends < 1_000; ends++, last += 3) {
    let count = 0;
    const spy = jest.spyOn(source, 'createQueryRunner').mockImplementation((mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner);
      runner.query = ((sql: string, ...rest: []) => {
        // What has to be done in any case is done.
        const isEnding = /^(?:UNLOCK|RESET|SET )/.test(sql);
        if (!isEnding && ++count > last) return Promise.reject(new Error('ended here'));
        return query(sql, ...rest);
      }) as typeof runner.query;
      return runner;
    });
    try {
      await work();
      return ends;
    } catch (error) {
      expect((error as Error).message).toBe('ended here');
    } finally {
      spy.mockRestore();
    }
  }
  throw new Error('it never gets through');
}
