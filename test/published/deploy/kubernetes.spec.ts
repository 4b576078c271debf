import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { HealthController } from '../../../apps/id-service/src/health/health.controller.js';
import { MetricsController } from '../../../apps/id-service/src/metrics/metrics.controller.js';
import { readData, readText } from './read-deployment.js';
import { routesOf } from './routes-of.js';

const FOLDER = 'deploy/kubernetes';

/** Answers under way are cut off after this time: apps/id-service/src/drain.ts. */
const LAST_ANSWERS_SECONDS = 5;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly rollingUpdate: { readonly maxSurge: number } };
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
        readonly containers: readonly [Container];
      };
    };
  };
}

interface Container {
  readonly image: string;
  readonly ports: readonly [{ readonly name: string; readonly containerPort: number }];
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly securityContext: object;
}

interface Selecting {
  readonly spec: { readonly selector: { readonly matchLabels?: object }; readonly ports?: readonly object[] };
}

const read = <Data>(name: string): Data => readData<Data>(`${FOLDER}/${name}.yaml`);

const { spec } = read<Deployment>('deployment');
const pod = spec.template.spec;
const [container] = pod.containers;
const [port] = container.ports;
const config = read<{ metadata: { name: string }; data: Record<string, string> }>('config-map');
const secret = read<{ metadata: { name: string }; stringData: Record<string, string> }>('secret.example');
const environment = { ...config.data, ...secret.stringData };

describe('The Kubernetes manifests', () => {
  it('are all applied by the kustomization, but the example of a secret', () => {
    const { resources, images } = read<{ resources: string[]; images: { name: string }[] }>('kustomization');
    const files = readdirSync(resolve(__dirname, '../../..', FOLDER)).filter(
      (name) => !['kustomization.yaml', 'secret.example.yaml'].includes(name),
    );
    expect([...resources].sort()).toEqual(files.sort());
    expect(images.map(({ name }) => name)).toEqual([container.image]);
  });

  it('give the service an environment that it reads, every name of it', () => {
    expect(container.envFrom).toEqual([
      { configMapRef: { name: config.metadata.name } },
      { secretRef: { name: secret.metadata.name } },
    ]);
    const source = readText('apps/id-service/src/service-config.ts');
    for (const name of Object.keys(environment)) expect(source).toMatch(new RegExp(`\\b${name}: `));
    for (const value of Object.values(environment)) expect(typeof value).toBe('string');
    const { host, port: listensOn, database } = readServiceConfig(environment);
    expect({ host, listensOn }).toEqual({ host: '0.0.0.0', listensOn: port.containerPort });
    expect(database.type).toBe('mysql');
  });

  it('have twice as many worker ids as pods, those of a rolling update included', () => {
    const { workers } = readServiceConfig(environment);
    const pods = spec.replicas + spec.strategy.rollingUpdate.maxSurge;
    expect(workers.max - workers.min + 1).toBeGreaterThanOrEqual(2 * pods);
  });

  it('ask for health and metrics where they are', () => {
    const routes = routesOf(HealthController);
    const { startupProbe, readinessProbe, livenessProbe } = container;
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      expect(routes).toContain(httpGet.path);
      expect(httpGet.port).toBe(port.name);
    }
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    // A restart helps against nothing that readiness asks for.
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live']);
    // Where Prometheus looks unless it is told otherwise.
    expect(routesOf(MetricsController)).toContain('/metrics');
  });

  it('leave time to forget the pod, to answer and to give the worker id back', () => {
    const [program, seconds] = container.lifecycle.preStop.exec.command;
    expect(program).toBe('sleep');
    const drain = readServiceConfig(environment).drainMs / 1_000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + drain + LAST_ANSWERS_SECONDS + 5);
    expect(readText('apps/id-service/src/drain.ts')).toContain(`LAST_ANSWERS_MS = ${LAST_ANSWERS_SECONDS}_000`);
  });

  it('lead Service and PodDisruptionBudget to the pods', () => {
    const labels = spec.selector.matchLabels;
    expect(spec.template.metadata.labels).toEqual(labels);
    const service = read<Selecting>('service');
    expect(service.spec.selector).toEqual(labels);
    expect(service.spec.ports).toMatchObject([{ targetPort: port.name }]);
    expect(read<Selecting>('pod-disruption-budget').spec.selector.matchLabels).toEqual(labels);
  });

  it('let only clients of IDs and monitors reach a pod, and let a pod reach only DNS and its database', () => {
    interface Rule {
      readonly from?: readonly object[];
      readonly ports: readonly { readonly port: number | string }[];
    }
    const policy = read<{
      spec: { podSelector: object; policyTypes: string[]; ingress: Rule[]; egress: Rule[] };
    }>('network-policy').spec;
    expect(policy.podSelector).toEqual({ matchLabels: spec.selector.matchLabels });
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    for (const { from, ports } of policy.ingress) {
      expect(from).toHaveLength(1);
      expect(ports).toEqual([{ port: port.name }]);
    }
    const { database } = readServiceConfig(environment);
    const asked = policy.egress.flatMap(({ ports }) => ports.map((each) => each.port));
    expect(asked).toEqual(expect.arrayContaining([53, Number(new URL((database as { url: string }).url).port)]));
    expect(new Set(asked)).toEqual(new Set([53, 3306, 5432]));
  });

  it('hold no secret, and name the one that has to be made', () => {
    const { resources } = read<{ resources: string[] }>('kustomization');
    for (const file of resources) expect(readText(`${FOLDER}/${file}`)).not.toMatch(/:\/\/[^\s]*@|_KEYS|kind: Secret/);
    // The example is not applied, and its password is none.
    expect(readText(`${FOLDER}/secret.example.yaml`)).toContain('change-me');
  });

  it('ask for what a pod needs, and limit its memory but not its CPU', () => {
    expect(container.resources.requests).toEqual({ cpu: expect.any(String) as string, memory: '128Mi' });
    expect(container.resources.limits).toEqual({ memory: '512Mi' });
  });

  it('take every right away that the service does not need', () => {
    // The user `node` of the image.
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});
