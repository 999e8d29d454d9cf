import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package-root.ts';

/** The file of the alerts, which Prometheus reads. */
export const alertsPath = join(packageRoot, 'deploy/prometheus/alerts.yml');

/** The copy of it in the Helm chart. */
export const alertsOfChartPath = join(packageRoot, 'deploy/helm/lendstream/files/alerts.yml');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** How long the condition must last, such as `5m`; the alert fires at once without it. */
  readonly for?: string;
  readonly labels: { readonly severity: 'critical' | 'warning' };
  readonly annotations: {
    /** A line that tells which part is concerned, with Prometheus's templates. */
    readonly summary: string;
    /** What to do, in Markdown. */
    readonly description: string;
    readonly runbook_url: string;
  };
}

/** All alerts, in their order. */
export function readAlerts(): Alert[] {
  const { groups } = parse(readFileSync(alertsPath, 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The section of docs/operating.md about the alerts: a heading for each, to which its `runbook_url` leads. */
export function alertsAsMarkdown(alerts: readonly Alert[]): string {
  return alerts
    .map(({ alert, expr, for: duration, labels, annotations }) => {
      const lasting = duration === undefined ? 'at once' : `after ${duration.replace('m', ' min')}`;
      return `### ${alert}\n\n\`\`\`promql\n${expr}\n\`\`\`\n\nFires ${lasting}, ${labels.severity}. ${annotations.description}\n`;
    })
    .join('\n');
}

/** A document with other text between the comments `<!-- begin name -->` and `<!-- end name -->`. */
export function withSection(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- begin ${name} -->\n`, `<!-- end ${name} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The document has no section ${name}`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
}
