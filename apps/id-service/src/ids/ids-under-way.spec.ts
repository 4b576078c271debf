import { IdsUnderWay } from './ids-under-way.js';

it('lets a million IDs be under way at a time, however many batches they are', async () => {
  const underWay = new IdsUnderWay();
  let finish!: () => void;
  const gate = new Promise<void>((open) => (finish = open));
  const batches = Array.from({ length: 100 }, () => underWay.during(10_000, () => gate));
  const refused = { told: { errorCode: 'TOO_MANY_IDS', retryable: true, retryAfterSeconds: 1 } };
  await expect(underWay.during(1, () => gate)).rejects.toMatchObject(refused);
  finish();
  await Promise.all(batches);
  const failed = Promise.reject(new Error('no IDs'));
  await expect(underWay.during(1_000_000, () => failed)).rejects.toThrow('no IDs');
  await expect(underWay.during(1_000_000, () => Promise.resolve('all'))).resolves.toBe('all');
});
