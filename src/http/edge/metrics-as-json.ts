import type { Responses } from '../../contract.ts';
import type { Metrics } from '../../metrics.ts';

/**
 * All metrics in the format of the Dropwizard library, which clients of Nakadi read. A name carries its labels as
 * Prometheus writes them. There are no meters and no timers: clients work out rates themselves, and durations are
 * histograms.
 */
export async function metricsAsJson({ registry }: Metrics): Promise<Responses['getMetrics']> {
  const gauges: Record<string, { value: number }> = {};
  const counters: Record<string, { count: number }> = {};
  const histograms: Record<string, { count: number; sum: number; buckets: Record<string, number> }> = {};
  for (const { name, type: declaredType, values } of await registry.getMetricsAsJSON()) {
    // The library declares a numeric enum, but the values are words.
    const type = String(declaredType);
    for (const { labels, value, metricName } of values as readonly SeriesValue[]) {
      const { le: bucket, ...otherLabels } = labels;
      if (type === 'counter') counters[nameWithLabels(name, labels)] = { count: value };
      else if (type !== 'histogram') gauges[nameWithLabels(name, labels)] = { value };
      else {
        const histogram = (histograms[nameWithLabels(name, otherLabels)] ??= { count: 0, sum: 0, buckets: {} });
        if (bucket !== undefined) histogram.buckets[String(bucket)] = value;
        else if (metricName === `${name}_count`) histogram.count = value;
        else histogram.sum = value;
      }
    }
  }
  return { version: formatVersion, gauges, counters, histograms, meters: {}, timers: {} };
}

/** The version of Dropwizard's format, not of the service. */
const formatVersion = '4.0.0';

interface SeriesValue {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  /** For a histogram: which of its series this is. */
  readonly metricName?: string;
}

function nameWithLabels(name: string, labels: SeriesValue['labels']): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value ?? ''))}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}
