import { readData } from './read-deployment.js';

/** A rule of deploy/prometheus/alerts.yml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

/** A panel of deploy/grafana/raindrop.json. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

export const rules = readData<{ groups: [{ rules: AlertRule[] }] }>('deploy/prometheus/alerts.yml').groups[0].rules;
export const dashboard = readData<Dashboard>('deploy/grafana/raindrop.json');

/** Every expression of the alerts and of the dashboard. */
export const expressions: readonly string[] = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** The service's metrics that an expression asks for. */
export function metricsIn(expression: string): string[] {
  const names = expression.replace(/\{[^}]*\}|by \([^)]*\)/g, '').match(/(raindrop|http)_\w+/g) ?? [];
  return [...new Set(names)];
}

/** The service's labels that an expression matches or groups by. */
export function labelsIn(expression: string): string[] {
  const matched = [...expression.matchAll(/\{([^}]*)\}/g)].map(([, inner]) => inner!.replace(/"[^"]*"/g, ''));
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].map(([, inner]) => inner!);
  return [...new Set([...matched, ...grouped].join(' ').match(/(raindrop|http)_\w+/g) ?? [])];
}
