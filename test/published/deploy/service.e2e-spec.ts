import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/processes/run.js';
import { until } from '../../support/until.js';
import { startServiceProcess, type ServiceProcess } from '../../product/service/service-process.js';
import { expressions, labelsIn, metricsIn } from './asked-series.js';
import { execForm } from './dockerfile.js';
import { readData } from './read-deployment.js';

const { data } = readData<{ data: Record<string, string> }>('deploy/kubernetes/config-map.yaml');

/** Heartbeats come soon: the series of their duration begin with the first one. */
const LEASE_MS = '12000';

describe('The service, as the deployment files start it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-deploy-'));
  let service: ServiceProcess;

  beforeAll(async () => {
    // The port, the address and the line that startServiceProcess waits for are the test's own.
    const ours = { PORT: '0', HOST: '127.0.0.1', LOG_FORMAT: 'text', RAINDROP_LEASE_MS: LEASE_MS };
    const environment = { ...data, ...ours };
    service = await startServiceProcess({ cwd: folder, environment });
  });

  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers the probes', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    }
  });

  it('has every series that the alerts and the dashboard ask for', async () => {
    await fetch(`${service.url}/v1/ids?count=3&code=order`, { method: 'POST' });
    const missing = async (): Promise<string[]> => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      const names = new Set([...text.matchAll(/^((?:raindrop|http)_\w+)/gm)].map(([, name]) => name!));
      const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!));
      return [
        ...expressions.flatMap(metricsIn).filter((name) => !names.has(name)),
        ...expressions.flatMap(labelsIn).filter((label) => !labels.has(label)),
      ];
    };
    await until('every series', async () => (await missing()).length === 0).catch(() => undefined);
    expect(await missing()).toEqual([]);
  });

  it("passes the image's health check while it runs, and not afterwards", async () => {
    const check = (): Promise<number | null> => runHealthCheck(new URL(service.url).port);
    expect(await check()).toBe(0);
    await service.stop('SIGTERM');
    expect(await check()).toBe(1);
  });
});

/** The exit code of the command that Docker runs. */
async function runHealthCheck(port: string): Promise<number | null> {
  const [, ...args] = execForm('HEALTHCHECK');
  return (await run([process.execPath, ...args], { environment: { PORT: port } })).code;
}
