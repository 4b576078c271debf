import { median, shuffle } from 'simple-statistics';
import { Between, MoreThanOrEqual } from 'typeorm';

const LATEST = 100;

/** Medians of what is read through TypeORM; a tenth of the rows where it is many. */
export async function read(repository, kind, { rows, keys, moments, signal }) {
  const tenth = Math.floor(rows / 10);
  const orders = () => repository.createQueryBuilder('o');
  const [{ o_id: middle }] = await orders()
    .select('o.id')
    .orderBy('o.id')
    .offset(rows >> 1)
    .limit(1)
    .getRawMany();

  const inKeyOrder = () =>
    orders()
      .where({ id: MoreThanOrEqual(middle) })
      .orderBy('o.id')
      .limit(tenth)
      .getRawMany();
  const timeOrder = kind.isOrdered ? 'o.id' : 'o.createdAt';
  const latest = () => orders().orderBy(timeOrder, 'DESC').limit(LATEST).getRawMany();
  // From the fifth tenth's first batch up to the sixth's.
  const from = moments[Math.floor(moments.length * 0.4)];
  const to = new Date(moments[Math.floor(moments.length * 0.5)].getTime() - 1);
  const span = kind.within === undefined ? { createdAt: Between(from, to) } : { id: kind.within(from, to) };
  const ofTime = () => orders().where(span).getRawMany();

  const [timed, ...others] = [await timeOf(ofTime, 5), await timeOf(inKeyOrder, 5), await timeOf(latest, 200)];
  signal.throwIfAborted();
  const expected = [Math.min(tenth, rows - (rows >> 1)), Math.min(LATEST, rows)];
  others.forEach(({ count }, index) => {
    if (count !== expected[index]) throw new Error(`${count} rows read, not ${expected[index]}`);
  });
  return {
    timeRangeMs: timed.ms,
    timeRangeRows: timed.count,
    keyOrderMs: others[0].ms,
    latestMs: others[1].ms,
    lookUpMs: await lookUpMs(repository, keys),
  };
}

async function timeOf(ask, times) {
  const { length: count } = await ask();
  const taken = [];
  for (let left = times; left > 0; left--) {
    const begun = performance.now();
    await ask();
    taken.push(performance.now() - begun);
  }
  return { ms: median(taken), count };
}

async function lookUpMs(repository, keys) {
  const taken = [];
  for (const id of shuffle(keys)) {
    const begun = performance.now();
    const order = await repository.findOneBy({ id });
    taken.push(performance.now() - begun);
    if (order === null) throw new Error(`no row with the key ${id}`);
  }
  return median(taken);
}
