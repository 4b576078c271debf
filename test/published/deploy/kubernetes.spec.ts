import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { HealthController } from '../../../apps/id-service/src/health/health.controller.js';
import { MetricsController } from '../../../apps/id-service/src/metrics/metrics.controller.js';
import { readData, readText } from './read-deployment.js';
import { routesOf } from './routes-of.js';

const ROOT = resolve(__dirname, '../../..');
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

interface Service {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: object; readonly ports: readonly [{ readonly port: number }] };
}

interface Budget {
  readonly spec: {
    readonly maxUnavailable: number;
    readonly unhealthyPodEvictionPolicy: string;
    readonly selector: { readonly matchLabels: object };
  };
}

type Labels = Record<string, string>;

interface Selector {
  readonly matchLabels?: Labels;
}

/** A rule of the network policy. */
interface Rule {
  readonly from?: readonly { readonly namespaceSelector?: Selector; readonly podSelector?: Selector }[];
  readonly ports: readonly { readonly port: number | string }[];
}

/** A pod without labels that sends a request. */
interface Sender {
  readonly isOfTheNamespace: boolean;
  readonly namespaceLabels: Labels;
}

/** An empty selector selects everything. */
function selects({ matchLabels = {} }: Selector, labels: Labels): boolean {
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
}

/** Whether a rule names the sender. Without a selector of namespaces it means pods of the policy's own one. */
function isSentBy({ from = [{}] }: Rule, { isOfTheNamespace, namespaceLabels }: Sender): boolean {
  return from.some(({ namespaceSelector, podSelector = {} }) => {
    const isOfNamespace =
      namespaceSelector === undefined ? isOfTheNamespace : selects(namespaceSelector, namespaceLabels);
    return isOfNamespace && selects(podSelector, {});
  });
}

const read = <Data>(name: string): Data => readData<Data>(`${FOLDER}/${name}.yaml`);

const { spec } = read<Deployment>('deployment');
const pod = spec.template.spec;
const [container] = pod.containers;
const [port] = container.ports;
const config = read<{ metadata: { name: string }; data: Record<string, string> }>('config-map');
const secret = read<{ metadata: { name: string }; stringData: Record<string, string> }>('secret.example');
const environment = { ...config.data, ...secret.stringData };
const service = read<Service>('service');
const budget = read<Budget>('pod-disruption-budget');
const { spec: policy } = read<{
  spec: { podSelector: object; policyTypes: string[]; ingress: Rule[]; egress: Rule[] };
}>('network-policy');

const GUIDE = readText('docs/service.md');
/** Where docs/service.md puts the service, and the label of the namespaces of its clients. */
const NAMESPACE = 'ids';
const LABEL = 'raindrop-clients';
const LABELLED = { [LABEL]: 'true' };

describe('The Kubernetes manifests', () => {
  it('are all applied by the kustomization, but the example of a secret', () => {
    const { resources, images } = read<{ resources: string[]; images: { name: string }[] }>('kustomization');
    const files = readdirSync(resolve(ROOT, FOLDER)).filter(
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
    expect(service.spec.selector).toEqual(labels);
    expect(service.spec.ports).toMatchObject([{ targetPort: port.name }]);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
  });

  it('keep pods while a node is drained, and let it be drained when none is ready', () => {
    const { maxUnavailable, unhealthyPodEvictionPolicy } = budget.spec;
    expect(maxUnavailable).toBeGreaterThan(0);
    expect(maxUnavailable).toBeLessThan(spec.replicas);
    expect(unhealthyPodEvictionPolicy).toBe('AlwaysAllow');
  });

  it.each([
    { from: 'a pod of its own namespace', namespace: 'ids', labels: {}, isAdmitted: true },
    { from: 'a pod of a namespace with the label', namespace: 'shop', labels: LABELLED, isAdmitted: true },
    { from: 'a pod of any other namespace', namespace: 'shop', labels: {}, isAdmitted: false },
    { from: 'a namespace whose label says no', namespace: 'shop', labels: { [LABEL]: 'false' }, isAdmitted: false },
    { from: 'Prometheus', namespace: 'monitoring', labels: {}, isAdmitted: true },
  ])('answer $from: $isAdmitted', ({ namespace, labels, isAdmitted }) => {
    const sender: Sender = { isOfTheNamespace: namespace === NAMESPACE, namespaceLabels: { ...labels } };
    sender.namespaceLabels['kubernetes.io/metadata.name'] = namespace;
    expect(policy.ingress.some((rule) => isSentBy(rule, sender))).toBe(isAdmitted);
  });

  it('open the one port of the container, and let a pod reach only DNS and its database', () => {
    expect(policy.podSelector).toEqual({ matchLabels: spec.selector.matchLabels });
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    for (const { from, ports } of policy.ingress) {
      // Without senders a rule admits all of them.
      expect(from).not.toHaveLength(0);
      expect(ports).toEqual([{ port: port.name }]);
    }
    const { database } = readServiceConfig(environment);
    const asked = policy.egress.flatMap(({ ports }) => ports.map((each) => each.port));
    expect(asked).toEqual(expect.arrayContaining([53, Number(new URL((database as { url: string }).url).port)]));
    expect(new Set(asked)).toEqual(new Set([53, 3306, 5432]));
  });

  it('are applied as docs/service.md says: the namespaces, the label and the keys of the secret', () => {
    expect(GUIDE).toContain(`kubectl create namespace ${NAMESPACE}\n`);
    expect(GUIDE).toContain(`kubectl label namespace shop ${LABEL}=true\n`);
    const command = /^kubectl --namespace (\S+) create secret generic (\S+) ((?:.*\\\n)*.*)$/m.exec(GUIDE)!;
    expect(command.slice(1, 3)).toEqual([NAMESPACE, secret.metadata.name]);
    const given = [...command[3]!.matchAll(/--from-literal=(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]);
    expect(given.map(([name]) => name)).toEqual(Object.keys(secret.stringData));
    const { apiKeys, database } = readServiceConfig({
      ...config.data,
      ...(Object.fromEntries(given) as Record<string, string>),
    });
    expect(apiKeys).toHaveLength(1);
    expect(database.type).toBe('mysql');
  });

  it('are where the examples of the remote client look, in every namespace', () => {
    const [{ port: listensOn }] = service.spec.ports;
    const sources = readdirSync(resolve(ROOT, 'libs/node/src/remote')).map((name) => `libs/node/src/remote/${name}`);
    const texts = ['docs/service.md', ...sources.filter((name) => !name.endsWith('spec.ts'))].map(readText);
    const shown = texts.flatMap((text) => text.match(/http:\/\/(raindrop|ids)[\w.:-]*/g) ?? []);
    const addresses = [service.metadata.name, `${service.metadata.name}.${NAMESPACE}`];
    expect(shown.length).toBeGreaterThan(4);
    for (const each of shown) {
      const { hostname, port: given } = new URL(each);
      expect(addresses).toContain(hostname);
      expect(Number(given || 80)).toBe(listensOn);
    }
    expect(readText('docs/service.md')).toContain(`\`http://${addresses[1]}\``);
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
