import { createLayout } from '@raindrop/core';
import { resolveLeaseOptions } from '@raindrop/core/internal';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { serviceLayout } from '../../../apps/id-service/src/service-layout.js';
import { dashboard, expressions, labelsIn, metricsIn, rules, type Panel } from './asked-series.js';
import { readText } from './read-deployment.js';

const METRICS = readText('docs/metrics.md');
const UNITS: Readonly<Record<string, string>> = { s: '_seconds', d: '_days' };
const ENDINGS: Readonly<Record<string, string>> = { counter: '_total', histogram: '_bucket' };

/** Of docs/service.md: what the service measures beside its IDs. */
const HTTP = {
  metrics: ['http_server_request_duration_seconds_bucket', 'http_server_request_duration_seconds_count'],
  labels: ['http_request_method', 'http_route', 'http_response_status_code'],
};

/** Every instrument of docs/metrics.md, named as OpenTelemetry names it for Prometheus: unit, then kind. */
const documented = [...METRICS.matchAll(/^\| `(raindrop\.[\w.]+)` \| ([\w-]+) \| (\S*) \|/gm)].map(
  ([, name, kind, unit]) => name!.replaceAll('.', '_') + (UNITS[unit!] ?? '') + (ENDINGS[kind!] ?? ''),
);
const labels = [
  ...[...METRICS.matchAll(/`(raindrop\.[\w.]+)`/g)].map(([, name]) => name!.replaceAll('.', '_')),
  ...HTTP.labels,
];
const known = [...documented, ...HTTP.metrics];

const exprOf = (alert: string): string => rules.find((rule) => rule.alert === alert)!.expr;

describe('The alerts and the dashboard', () => {
  it('ask for metrics and labels that docs/metrics.md or docs/service.md has', () => {
    for (const name of [HTTP.metrics[0]!.replace(/_bucket$/, ''), ...HTTP.labels]) {
      expect(readText('docs/service.md')).toContain(`\`${name}\``);
    }
    expect(documented).toHaveLength(16);
    for (const expression of expressions) {
      expect({ expression, unknown: metricsIn(expression).filter((name) => !known.includes(name)) }).toEqual({
        expression,
        unknown: [],
      });
      expect(labelsIn(expression).filter((name) => !labels.includes(name))).toEqual([]);
    }
  });

  it('would be found out', () => {
    expect(metricsIn('rate(raindrop_nothing_total{raindrop_code="x"}[5m])')).toEqual(['raindrop_nothing_total']);
    expect(labelsIn('sum by (raindrop_no) (up{raindrop_neither=~"raindrop_value"})')).toEqual([
      'raindrop_neither',
      'raindrop_no',
    ]);
    expect(documented).not.toContain('raindrop_nothing_total');
  });
});

describe('The alerts', () => {
  it('have a name of their own, a severity and a summary', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels: given, annotations } of rules) {
      expect(['warning', 'critical']).toContain(given.severity);
      expect(annotations.summary).not.toBe('');
    }
  });

  it('compare with what follows from the service as it is delivered', () => {
    const { workers, leaseMs } = readServiceConfig({});
    const layout = createLayout(serviceLayout, Date.now());
    expect(resolveLeaseOptions({ leaseMs }).leaseMs).toBe(leaseMs);
    expect(exprOf('RaindropCannotRenew')).toMatch(new RegExp(`< ${leaseMs / 2_000}$`));
    expect(exprOf('RaindropHalfSaturated')).toMatch(new RegExp(`> ${layout.idsPerSecond / 2}$`));
    expect(exprOf('RaindropWorkersHalfHeld')).toMatch(new RegExp(`> ${(workers.max - workers.min + 1) / 2}$`));
  });
});

describe('The dashboard', () => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it('shows every metric that there is', () => {
    const shown = new Set(panels.flatMap(({ targets }) => targets!.flatMap(({ expr }) => metricsIn(expr))));
    expect(known.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('filters every panel by its variables, and says what it shows', () => {
    const variables = dashboard.templating.list.map(({ name }) => name);
    expect(variables).toEqual(['datasource', 'service', 'instance']);
    for (const { description, targets } of panels) {
      expect(description).toMatch(/\.$/);
      for (const { expr } of targets!) {
        // Requests are of a process and not of one of its services.
        const service = expr.includes('http_server') ? '' : 'raindrop_service=~"$service",';
        expect(expr).toContain(`{${service}instance=~"$instance"`);
      }
    }
  });

  it('has panels that do not lie on each other', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const panel of dashboard.panels) {
      expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
      const under = dashboard.panels.filter((other) => other !== panel && overlap(panel, other));
      expect(under.map(({ title }) => title)).toEqual([]);
    }
  });
});

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
