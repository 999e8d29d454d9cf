import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableRows } from '../../scripts/docs/markdown.ts';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { packageRoot } from '../../src/package-root.ts';
import { call } from '../support/http/client.ts';
import { evaluate, readExposition, type Sample, type Scrape } from '../support/prometheus.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** How often Prometheus scrapes and evaluates its rules. Seconds. */
const stepSeconds = 15;

/** Before anything happens, so that everything that begins with 0 was scraped with 0. Seconds. */
const quietSeconds = 60;

interface Alert {
  readonly expression: string;
  readonly forSeconds: number;
}

const alerts = new Map(
  tableRows(readFileSync(join(packageRoot, 'docs/operating.md'), 'utf8'))
    .map((row) => row.map((cell) => cell.replaceAll('\\|', '|')))
    .filter((row) => row.length === 4 && /^(now|\d+ m)$/.test(row[2] ?? ''))
    .map(([name = '', expression = '', duration = '']): [string, Alert] => [
      name,
      {
        expression: expression.slice(1, -1),
        forSeconds: duration === 'now' ? 0 : Number.parseInt(duration, 10) * 60,
      },
    ]),
);

/** Sets metrics as they are at a scrape. @param step Number of scrapes since the start, from 0. */
type Scenario = (metrics: Metrics, step: number) => readonly Sample[] | void;

interface Row {
  readonly alert: string;
  /** For how long the condition must last. Seconds. */
  readonly forSeconds: number;
  /** The metrics from the start. */
  readonly before?: (metrics: Metrics) => void;
  readonly atTheThreshold: Scenario;
  readonly justAbove: Scenario;
}

const up = (value: number): Scenario => {
  return () => [{ name: 'up', labels: { job: 'lendstream' }, value }];
};
const waiting = (...counts: number[]): Scenario => {
  return ({ workerLag }) => counts.forEach((count, partition) => workerLag.set({ partition }, count));
};
const command = { type: 'REPAY', outcome: 'committed' };
const deadLetter = { type: 'unknown', outcome: 'dead_letter' };
const commands = { event_type: 'lendstream.loan-commands' };
const lag = (count: number): Scenario => {
  return ({ subscriptionLag }) => {
    subscriptionLag.set({ subscription_id: 'a', event_type: 'orders' }, count);
    subscriptionLag.set({ subscription_id: 'a', event_type: 'payments' }, 7);
  };
};
const consumed = (subscriptionId: string, count: number): Scenario => {
  return (metrics) => {
    lag(count)(metrics, 0);
    metrics.openStreams.set({ subscription_id: subscriptionId }, 1);
  };
};
/** A thousand requests per step, of which this many take more than a second. */
const slow = (histogram: (metrics: Metrics) => (seconds: number) => void, slower: number): Scenario => {
  return (metrics) => {
    for (let number = 0; number < 1_000; number += 1) histogram(metrics)(number < slower ? 1.01 : 1);
  };
};
const publishing = (metrics: Metrics) => (seconds: number) =>
  metrics.publishSeconds.observe({ event_type: 'orders' }, seconds);
const committing = (metrics: Metrics) => (seconds: number) => metrics.commitSeconds.observe(seconds);
const once = (scenario: (metrics: Metrics) => void): Scenario => {
  return (metrics, step) => {
    if (step === 0) scenario(metrics);
  };
};
const nothing: Scenario = () => undefined;
const memory = (bytes: number): Scenario => {
  return () => [{ name: 'process_resident_memory_bytes', labels: {}, value: bytes }];
};
const ended = (reason: string, count: number): Scenario =>
  once(({ closedStreams }) => closedStreams.inc({ reason }, count));

const minute = 60;

const rows: readonly Row[] = [
  { alert: 'process is down', forSeconds: minute, atTheThreshold: up(1), justAbove: up(0) },
  {
    alert: 'commands wait',
    forSeconds: 5 * minute,
    atTheThreshold: waiting(400, 600),
    justAbove: waiting(400, 601),
  },
  {
    alert: 'nothing is decided',
    forSeconds: 2 * minute,
    before: ({ publishedEvents, commands: decided }) => {
      publishedEvents.inc(commands, 0);
      decided.inc(command, 0);
    },
    atTheThreshold: once(({ publishedEvents, commands: decided }) => {
      publishedEvents.inc(commands, 1);
      decided.inc(command, 1);
    }),
    justAbove: once(({ publishedEvents }) => publishedEvents.inc(commands, 1)),
  },
  {
    alert: 'dead letters',
    forSeconds: 0,
    before: ({ commands: decided }) => decided.inc(deadLetter, 0),
    atTheThreshold: once((metrics) => metrics.commands.inc({ type: 'REPAY', outcome: 'refused' })),
    justAbove: once((metrics) => metrics.commands.inc(deadLetter)),
  },
  { alert: 'consumer falls behind', forSeconds: 15 * minute, atTheThreshold: lag(100_000), justAbove: lag(100_001) },
  {
    alert: 'no consumer',
    forSeconds: 15 * minute,
    atTheThreshold: consumed('a', 1),
    // A stream of another subscription.
    justAbove: consumed('b', 1),
  },
  {
    alert: 'publishing is slow',
    forSeconds: 10 * minute,
    before: ({ publishSeconds }) => publishSeconds.zero({ event_type: 'orders' }),
    atTheThreshold: slow(publishing, 9),
    justAbove: slow(publishing, 11),
  },
  {
    alert: 'commits are slow',
    forSeconds: 10 * minute,
    atTheThreshold: slow(committing, 9),
    justAbove: slow(committing, 11),
  },
  {
    alert: 'consumers do not commit',
    forSeconds: 0,
    before: ({ closedStreams }) => closedStreams.inc({ reason: 'commit_timeout' }, 0),
    atTheThreshold: ended('commit_timeout', 10),
    justAbove: ended('commit_timeout', 11),
  },
  ...['log_error', 'coordination_error', 'session_lost'].map((reason) => ({
    alert: 'streams break',
    forSeconds: 0,
    before: ({ closedStreams }: Metrics) => closedStreams.inc({ reason }, 0),
    atTheThreshold: ended('client_closed', 1),
    justAbove: ended(reason, 1),
  })),
  {
    alert: 'events are refused',
    forSeconds: 15 * minute,
    before: ({ refusedEvents }) => refusedEvents.inc({ event_type: 'orders' }, 0),
    // One refusal raises no alert; another one within a quarter of an hour does.
    atTheThreshold: once(({ refusedEvents }) => refusedEvents.inc({ event_type: 'orders' })),
    justAbove: ({ refusedEvents }, step) => {
      if (step % 30 === 0) refusedEvents.inc({ event_type: 'orders' });
    },
  },
  {
    alert: 'bodies are refused',
    forSeconds: 0,
    before: ({ refusedBodies }) => refusedBodies.inc({ budget: 'large' }, 0),
    atTheThreshold: nothing,
    justAbove: once(({ refusedBodies }) => refusedBodies.inc({ budget: 'large' })),
  },
  {
    alert: 'a file is damaged',
    forSeconds: 0,
    // A damaged copy is rebuilt.
    atTheThreshold: ({ integrityDamages }) => integrityDamages.set({ file: 'accounts.db' }, 1),
    justAbove: ({ integrityDamages }) => integrityDamages.set({ file: 'log.db' }, 1),
  },
  { alert: 'memory', forSeconds: 15 * minute, atTheThreshold: memory(1.5e9), justAbove: memory(1.5e9 + 1) },
];

/** The service's own metrics in a scrape. */
async function scraped(metrics: Metrics): Promise<Sample[]> {
  const own = metrics.registry.getMetricsAsArray().filter(({ name }) => name.startsWith('lendstream_'));
  const texts = await Promise.all(own.map(({ name }) => metrics.registry.getSingleMetricAsString(name)));
  return readExposition(texts.join('\n'));
}

/**
 * The time from the start of a condition until its alert fires, when the condition lasts this long; undefined when it
 * does not fire. Seconds.
 */
async function firesAfter({ alert, before }: Row, scenario: Scenario, seconds: number): Promise<number | undefined> {
  const { expression, forSeconds } = alerts.get(alert) ?? { expression: '', forSeconds: 0 };
  const metrics = createMetrics();
  before?.(metrics);
  const scrapes: Scrape[] = [];
  let since: number | undefined;
  for (let at = -quietSeconds; at <= seconds; at += stepSeconds) {
    const others = (at < 0 ? undefined : scenario(metrics, at / stepSeconds)) ?? [];
    scrapes.push({ at, samples: [...(await scraped(metrics)), ...others] });
    since = evaluate(expression, scrapes, at).length === 0 ? undefined : (since ?? at);
    if (since !== undefined && at - since >= forSeconds) return at;
  }
  return undefined;
}

describe('the alerts of docs/operating.md', () => {
  it('are all covered by this test', () => {
    expect([...new Set(rows.map(({ alert }) => alert))]).to.deep.equal([...alerts.keys()]);
  });

  for (const row of rows) {
    const { alert, forSeconds, atTheThreshold, justAbove } = row;
    const after = forSeconds === 0 ? 'at once' : `after ${forSeconds / minute} min`;
    it(`"${alert}" fires ${after} just above its threshold, and never at it`, async () => {
      expect(await firesAfter(row, atTheThreshold, 40 * minute)).to.equal(undefined);
      expect(await firesAfter(row, justAbove, forSeconds - stepSeconds)).to.equal(undefined);
      expect(await firesAfter(row, justAbove, forSeconds)).to.equal(forSeconds);
    });
  }

  it('detect the first increase, because each series exists from the start with 0', async () => {
    const folder = await temporaryFolder();
    const app = await createApp(readConfig({ DATA_DIR: folder, PORT: '0' }), silentLogger);
    try {
      const url = await app.start();
      const { text } = await call(`${url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
      const began = readExposition(text);
      const first = (name: string, wanted: Sample['labels']): number | undefined =>
        began.find((sample) => {
          const isWanted = Object.entries(wanted).every(([label, value]) => sample.labels[label] === value);
          return sample.name === name && isWanted;
        })?.value;
      for (const reason of ['commit_timeout', 'log_error', 'coordination_error', 'session_lost']) {
        expect(first('lendstream_closed_streams_total', { reason }), reason).to.equal(0);
      }
      for (const budget of ['connection', 'small', 'large']) {
        expect(first('lendstream_refused_bodies_total', { budget }), budget).to.equal(0);
      }
      expect(first('lendstream_published_events_total', commands)).to.equal(0);
      expect(first('lendstream_loan_commands_total', deadLetter)).to.equal(0);
    } finally {
      await app.stop();
      await removeFolder(folder);
    }
  });
});
