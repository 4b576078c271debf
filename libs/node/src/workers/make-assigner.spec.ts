import type { NetworkInterfaceInfo } from 'node:os';
import { createLayout, type WorkerIdRequest, type WorkerRange } from '@raindrop/core';
import { IpAssigner, MachineAssigner, StatefulSetAssigner, StaticAssigner } from './make-assigner.js';

function request(workers: WorkerRange = { min: 1, max: 1_023 }, workIdLength = 10): WorkerIdRequest {
  const options = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength };
  return { layout: createLayout(options, Date.parse('2026-03-01')), workers, holder: 'a host' };
}

describe('The static assigner', () => {
  it.each<[string[], Record<string, string>, number | undefined, number | undefined]>([
    [['--raindrop.workerId=7'], { RAINDROP_WORKER_ID: '8' }, 9, 7],
    [['--raindrop.workerId', '7'], {}, 9, 7],
    [['serve', '--port=80', '--raindrop.workerId=7', '-x'], {}, undefined, 7],
    [['--raindrop.workerId=6', '--raindrop.workerId=7'], {}, undefined, 7],
    [['--workerId=3'], { RAINDROP_WORKER_ID: '8' }, 9, 8],
    [[], { RAINDROP_WORKER_ID: '' }, 9, 9],
    [[], {}, 9, 9],
    [[], {}, undefined, undefined],
  ])('takes from %j, %j and the option %p worker id %p', async (args, env, option, workerId) => {
    expect((await new StaticAssigner(option, { args, env }).acquire(request()))?.workerId).toBe(workerId);
  });

  it.each([
    [['--raindrop.workerId=0'], {}, '--raindrop.workerId'],
    [['--raindrop.workerId'], {}, '--raindrop.workerId'],
    [['--raindrop.workerId=-1'], {}, '--raindrop.workerId'],
    [[], { RAINDROP_WORKER_ID: '1024' }, 'RAINDROP_WORKER_ID'],
    [[], { RAINDROP_WORKER_ID: '7.5' }, 'RAINDROP_WORKER_ID'],
    [[], { RAINDROP_WORKER_ID: ' 7' }, 'RAINDROP_WORKER_ID'],
    [[], { RAINDROP_WORKER_ID: '0x7' }, 'RAINDROP_WORKER_ID'],
  ])('refuses %j, %j, and names the place', async (args, env, option) => {
    const failing = new StaticAssigner(5, { args, env }).acquire(request());
    await expect(failing).rejects.toMatchObject({ problems: [{ option }] });
    await expect(failing).rejects.toThrow('an integer from 1 to 1023');
  });
});

describe('The assigner of a StatefulSet', () => {
  it.each([
    ['orders-0', 1],
    ['orders-12', 13],
    ['my-team-orders-3', 4],
    ['orders', undefined],
    ['orders-7d4b9c8f6d-x2x9z', undefined],
    ['orders-3.orders.default.svc.cluster.local', undefined],
  ])('makes of %s worker id %p', async (pod, workerId) => {
    expect((await new StatefulSetAssigner(() => pod).acquire(request()))?.workerId).toBe(workerId);
  });

  it('refuses an ordinal that has no room', async () => {
    const failing = new StatefulSetAssigner(() => 'orders-3').acquire(request({ min: 5, max: 7 }));
    await expect(failing).rejects.toThrow("pod 'orders-3' has ordinal 3, but 5..7 allows only 3 pods");
  });
});

describe('The assigner by address', () => {
  const at = (address: string, internal = false): NetworkInterfaceInfo => ({
    address,
    internal,
    netmask: '255.255.255.0',
    mac: '02:00:00:00:00:01',
    cidr: null,
    family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
    scopeid: 0,
  });

  it.each([
    [['192.168.1.108'], 10, 364],
    [['192.168.1.108'], 8, 108],
    [['203.0.113.9', '10.2.3.4'], 10, 772],
    [['fe80::1', '172.16.0.9'], 10, 9],
    [['172.32.0.9'], 10, undefined],
    [[], 10, undefined],
  ])('makes of %j and %d bits worker id %p', async (addresses, bits, workerId) => {
    const assigner = new IpAssigner(() => ({ eth0: addresses.map((each) => at(each)) }));
    expect((await assigner.acquire(request({ min: 0, max: 2 ** bits - 1 }, bits)))?.workerId).toBe(workerId);
  });

  it('passes over what does not lead outside', async () => {
    const assigner = new IpAssigner(() => ({ lo: [at('10.0.0.1', true)], eth0: [at('10.0.0.2')], down: undefined }));
    expect(await assigner.acquire(request())).toMatchObject({ workerId: 2 });
  });

  it('says that it is unsafe, and how much so', async () => {
    const assigner = new IpAssigner(() => ({ eth0: [at('10.0.0.2')] }));
    const [warning] = (await assigner.acquire(request({ min: 0, max: 1_023 })))!.warnings!;
    expect(warning).toMatch(
      /^UNSAFE worker id 2, from address 10\.0\.0\.2: .*0\.098 % among 2, 4\.3 % among 10, 70 % among 50/,
    );
  });

  it('folds what lies outside the range', async () => {
    const assigner = new IpAssigner(() => ({ eth0: [at('192.168.1.108')] }));
    expect(await assigner.acquire(request({ min: 512, max: 1_023 }))).toMatchObject({ workerId: 512 + 364 });
  });
});

describe('The assigner by machine and process', () => {
  it.each([
    [{ min: 0, max: 1_023 }, 10],
    [{ min: 5, max: 7 }, 3],
    [{ min: 1, max: 1_023 }, 10],
  ])('stays inside %j', async (workers, bits) => {
    const { workerId, warnings } = await new MachineAssigner().acquire(request(workers, bits));
    expect(workerId).toBeGreaterThanOrEqual(workers.min);
    expect(workerId).toBeLessThanOrEqual(workers.max);
    expect(warnings![0]).toMatch(/^UNSAFE worker id/);
  });

  it('puts the process id above the machine', async () => {
    const { workerId } = await new MachineAssigner().acquire(request({ min: 0, max: 1_023 }));
    expect(workerId >> 5).toBe(process.pid % 32);
  });
});
