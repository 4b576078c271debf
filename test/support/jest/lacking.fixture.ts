import { MissingForTests } from './missing-for-tests';

// Run by missing-environment.int-spec.ts alone.
describe('a suite whose server is missing', () => {
  let server: { stop(): void };
  beforeAll(() => {
    server = startNothing();
  });
  afterAll(() => {
    server.stop();
  });
  it('is left out', () => undefined);
  it('is left out with all its tests', () => undefined);
});

it('passes beside it', () => undefined);

it('is left out when it finds out itself', () => {
  startNothing();
});

if (process.env['RAINDROP_FIXTURE_FAILS'] === '1') {
  it('fails for another reason', () => {
    throw new Error('a real failure');
  });
}

function startNothing(): never {
  throw new MissingForTests('Nothing', 'nobody has it');
}
