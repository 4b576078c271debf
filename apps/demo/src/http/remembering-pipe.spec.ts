import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { parse } from 'node:querystring';
import { RememberingPipe } from './remembering-pipe.js';

let checks = 0;

class Query {
  @IsIn(['yes'])
  answer = 'yes';

  constructor() {
    checks++;
  }
}

class Other extends Query {}

describe('RememberingPipe', () => {
  const query: ArgumentMetadata = { type: 'query', metatype: Query };
  let pipe: RememberingPipe;

  beforeEach(() => {
    pipe = new RememberingPipe(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
    checks = 0;
  });

  it('checks the same query once, and hands out what nobody can change', async () => {
    const first = await pipe.transform({ answer: 'yes' }, query);
    expect(await pipe.transform({ answer: 'yes' }, query)).toBe(first);
    expect(checks).toBe(1);
    expect(first).toEqual({ answer: 'yes' });
    expect(Object.isFrozen(first)).toBe(true);
  });

  it.each(['answer=no', 'answer=yes&answer=yes', 'answer=', 'toJSON=yes', 'other=1'])(
    'refuses %s every time, also beside what it has accepted',
    async (text) => {
      await pipe.transform(parse('answer=yes'), query);
      await pipe.transform(parse(''), query);
      for (const again of [1, 2]) {
        await expect(pipe.transform(parse(text), query)).rejects.toThrow('Bad Request');
        expect(checks).toBe(2 + again);
      }
    },
  );

  it('tells classes apart, and remembers neither bodies nor single parameters', async () => {
    const other = await pipe.transform({}, { type: 'query', metatype: Other });
    expect(await pipe.transform({}, query)).not.toBe(other);
    const body: ArgumentMetadata = { type: 'body', metatype: Query };
    const named: ArgumentMetadata = { type: 'query', metatype: Query, data: 'answer' };
    for (const metadata of [body, named]) {
      expect(await pipe.transform({}, metadata)).not.toBe(await pipe.transform({}, metadata));
    }
  });

  it('forgets before it grows large', async () => {
    const loose = new RememberingPipe(new ValidationPipe({ transform: true }));
    const first = await loose.transform({ other: '0' }, query);
    for (let other = 1; other <= 1_000; other++) await loose.transform({ other: String(other) }, query);
    expect(await loose.transform({ other: '0' }, query)).not.toBe(first);
  });
});
