import fc from 'fast-check';
import { ConfigurationError } from '../config/option-reader.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { collisionOdds, machineProcessWorkerId, machineText, type NetworkInterfaces } from './machine-process-id.js';

const eth0 = (mac: string): NetworkInterfaces => ({ eth0: [{ mac, internal: false }] });

describe('a worker id of machine and process', () => {
  it('has the low bits of the process id in its high half', () => {
    const of = (processId: number): number =>
      machineProcessWorkerId({ interfaces: 'a machine', processId, workerBits: 10 });
    expect(of(1_000) >> 5).toBe(1_000 % 32);
    expect(of(1_001) - of(1_000)).toBe(32);
    expect(of(1_032)).toBe(of(1_000));
    expect(of(2 ** 53 - 1) >> 5).toBe(31);
  });

  it('never changes: it is what running processes hold', () => {
    const of = (interfaces: string, workerBits: number): number =>
      machineProcessWorkerId({ interfaces, processId: 77, workerBits });
    expect([of('', 10), of('eth0 02:42:ac:11:00:02', 10), of('eth0 02:42:ac:11:00:02', 22)]).toEqual([
      427, 445, 158_237,
    ]);
  });

  it.each([0, 1, 2, 5, 9, 10, 17, 22, 53])('fits into %i bits, and reaches both ends of them', (workerBits) => {
    const machineIds = new Set<number>();
    fc.assert(
      fc.property(fc.string(), fc.maxSafeNat(), (interfaces, processId) => {
        const id = machineProcessWorkerId({ interfaces, processId, workerBits });
        expect(Number.isSafeInteger(id) && id >= 0 && id < 2 ** workerBits).toBe(true);
        machineIds.add(id % 2 ** Math.ceil(workerBits / 2));
      }),
      { seed: 2, numRuns: 500 },
    );
    if (workerBits <= 10) expect(machineIds.size).toBe(2 ** Math.ceil(workerBits / 2));
  });

  it('spreads machines with neighbouring addresses evenly', () => {
    const counts = new Array<number>(32).fill(0);
    const machines = 3_200;
    for (let machine = 0; machine < machines; machine++) {
      const mac = `02:42:ac:11:${(machine >> 8).toString(16).padStart(2, '0')}:${(machine & 255).toString(16).padStart(2, '0')}`;
      counts[machineProcessWorkerId({ interfaces: `eth0 ${mac}`, processId: 0, workerBits: 10 })]!++;
    }
    const chiSquare = counts.reduce((sum, count) => sum + (count - machines / 32) ** 2 / (machines / 32), 0);
    // 31 degrees of freedom: more than 61 in one of a thousand cases.
    expect(chiSquare).toBeLessThan(61);
  });

  it.each([
    { interfaces: 7 as unknown as string, processId: 1, workerBits: 10 },
    { interfaces: '', processId: -1, workerBits: 10 },
    { interfaces: '', processId: 1.5, workerBits: 10 },
    { interfaces: '', processId: 1, workerBits: 54 },
  ])('of %p is refused', (of) => {
    expect(() => machineProcessWorkerId(of)).toThrow(ConfigurationError);
  });
});

describe('the text of a machine', () => {
  it('has its name and every interface that leads outside, once, in one order', () => {
    const address = (mac: string, internal = false): { mac: string; internal: boolean } => ({ mac, internal });
    const interfaces = {
      wlan0: [address('22:22:22:22:22:22')],
      lo: [address('00:00:00:00:00:00', true)],
      eth0: [address('11:11:11:11:11:11'), address('11:11:11:11:11:11')],
      gone: undefined,
    };
    expect(machineText('web-1', interfaces)).toBe('web-1\neth0 11:11:11:11:11:11\nwlan0 22:22:22:22:22:22');
  });

  it('differs where containers have one address on every host, and names of their own', () => {
    const mac = '02:42:ac:11:00:02';
    expect(machineText('4f2a', eth0(mac))).not.toBe(machineText('9c01', eth0(mac)));
    expect(machineText('4f2a', eth0(mac))).toBe(machineText('4f2a', eth0(mac)));
  });
});

describe('the odds of a collision', () => {
  it.each([
    [365, 23, 0.507297],
    [1_024, 2, 1 / 1_024],
    [1_024, 10, 0.043124],
    [1_024, 38, 0.500956],
    [1_024, 100, 0.993253],
    [32, 7, 0.506285],
    [2 ** 22, 2_411, 0.499826],
  ])('are those of the birthday problem: %i ids, %i processes', (ids, processes, odds) => {
    expect(collisionOdds(ids, processes)).toBeCloseTo(odds, 4);
  });

  it.each([
    [1_024, 0, 0],
    [1_024, 1, 0],
    [1_024, 1_025, 1],
    [1_024, 1_000_000, 1],
    [1, 1, 0],
    [1, 2, 1],
  ])('are sure at the ends: %i ids, %i processes', (ids, processes, odds) => {
    expect(collisionOdds(ids, processes)).toBe(odds);
  });

  it('do not lose small ones to rounding', () => {
    expect(collisionOdds(2 ** 53 - 1, 2)).toBe(1 / (2 ** 53 - 1));
  });

  it.each([
    [0, 1],
    [1.5, 1],
    [Number.NaN, 1],
    [1_024, -1],
    [1_024, 1_000_001],
    [1_024, '2' as unknown as number],
  ])('of %p ids and %p processes are refused', (ids, processes) => {
    expect(() => collisionOdds(ids, processes)).toThrow(ConfigurationError);
  });

  it('are what happens when ids are drawn', () => {
    const { randomness } = new VirtualTime(0, 5);
    const draws = 4_000;
    let collided = 0;
    for (let draw = 0; draw < draws; draw++) {
      const drawn = Array.from({ length: 12 }, () => Math.floor(randomness.fraction() * 128));
      if (new Set(drawn).size < drawn.length) collided++;
    }
    expect(collided / draws).toBeCloseTo(collisionOdds(128, 12), 1);
  });
});
