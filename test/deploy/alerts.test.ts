import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alertsPath, readAlerts } from '../../scripts/deployment/alerts.ts';
import { promtool } from '../../scripts/deployment/promtool.ts';
import { headingAnchors } from '../../scripts/docs/markdown.ts';
import { readConfig } from '../../src/config.ts';
import { describeError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics, setLags, type Metrics } from '../../src/metrics.ts';
import { packageRoot } from '../../src/package-root.ts';
import { call } from '../support/http/client.ts';
import { readExposition, type Sample } from '../support/prometheus.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { createAppHere } from '../support/processes/service-here.ts';

/** How often Prometheus scrapes and evaluates its rules. Seconds. */
const stepSeconds = 15;

/** Before anything happens, so that everything that begins with 0 was scraped with 0. Seconds. */
const quietSeconds = 60;

/** How long a condition lasts. Seconds. */
const lastingSeconds = 25 * 60;

const minute = 60;

/** Sets metrics as they are at a scrape. @param step Number of scrapes since the start, from 0. */
type Scenario = (metrics: Metrics, step: number) => readonly Sample[] | void;

interface Row {
  readonly alert: string;
  /** The metrics from the start. */
  readonly before?: (metrics: Metrics) => void;
  readonly atTheThreshold: Scenario;
  readonly justAbove: Scenario;
}

const up = (value: number): Scenario => {
  return () => [{ name: 'up', labels: {}, value }];
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
/** A certificate that has fourteen days left at this second since the first scrape, beside one that has more. */
const fourteenDaysLeftAt = (second: number): Scenario => {
  return ({ tlsExpiresAt }) => {
    tlsExpiresAt.set({ setting: 'TLS_CERTIFICATE' }, second + 14 * 86_400);
    tlsExpiresAt.set({ setting: 'TLS_CLIENT_CA' }, second + 400 * 86_400);
  };
};
const ended = (reason: string, count: number): Scenario =>
  once(({ closedStreams }) => closedStreams.inc({ reason }, count));

const twoLags = ['a', 'b'].map((subscriptionId) => ({ subscriptionId, eventType: 'orders', unconsumedEvents: 1 }));

const rows: readonly Row[] = [
  { alert: 'LendstreamProcessDown', atTheThreshold: up(1), justAbove: up(0) },
  {
    alert: 'LendstreamCommandsWait',
    atTheThreshold: waiting(400, 600),
    justAbove: waiting(400, 601),
  },
  {
    alert: 'LendstreamNothingDecided',
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
    alert: 'LendstreamCommandDeadLetters',
    before: ({ commands: decided }) => decided.inc(deadLetter, 0),
    atTheThreshold: once((metrics) => metrics.commands.inc({ type: 'REPAY', outcome: 'refused' })),
    justAbove: once((metrics) => metrics.commands.inc(deadLetter)),
  },
  {
    alert: 'LendstreamDeadLettersNotWritten',
    before: ({ deadLetterFailures }) => deadLetterFailures.inc({ subscription_id: 'a' }, 0),
    atTheThreshold: once(({ deadLetters }) => deadLetters.inc({ subscription_id: 'a' })),
    justAbove: once(({ deadLetterFailures }) => deadLetterFailures.inc({ subscription_id: 'a' })),
  },
  {
    alert: 'LendstreamAuditNotWritten',
    atTheThreshold: once(({ auditRecords }) => auditRecords.inc()),
    justAbove: once(({ auditFailures }) => auditFailures.inc()),
  },
  { alert: 'LendstreamConsumerFallsBehind', atTheThreshold: lag(100_000), justAbove: lag(100_001) },
  {
    alert: 'LendstreamNoConsumer',
    atTheThreshold: consumed('a', 1),
    // A stream of another subscription.
    justAbove: consumed('b', 1),
  },
  {
    alert: 'LendstreamLagsHidden',
    atTheThreshold: (metrics) => setLags(metrics, twoLags, 2),
    justAbove: (metrics) => setLags(metrics, twoLags, 1),
  },
  {
    alert: 'LendstreamPublishingSlow',
    before: ({ publishSeconds }) => publishSeconds.zero({ event_type: 'orders' }),
    atTheThreshold: slow(publishing, 9),
    justAbove: slow(publishing, 11),
  },
  {
    alert: 'LendstreamCommitsSlow',
    atTheThreshold: slow(committing, 9),
    justAbove: slow(committing, 11),
  },
  {
    alert: 'LendstreamConsumersDoNotCommit',
    before: ({ closedStreams }) => closedStreams.inc({ reason: 'commit_timeout' }, 0),
    atTheThreshold: ended('commit_timeout', 10),
    justAbove: ended('commit_timeout', 11),
  },
  ...['log_error', 'coordination_error', 'session_lost'].map((reason) => ({
    alert: 'LendstreamStreamsBreak',
    before: ({ closedStreams }: Metrics) => closedStreams.inc({ reason }, 0),
    atTheThreshold: ended('client_closed', 1),
    justAbove: ended(reason, 1),
  })),
  {
    alert: 'LendstreamEventsRefused',
    before: ({ refusedEvents }) => refusedEvents.inc({ event_type: 'orders' }, 0),
    // One refusal raises no alert; another one within a quarter of an hour does.
    atTheThreshold: once(({ refusedEvents }) => refusedEvents.inc({ event_type: 'orders' })),
    justAbove: ({ refusedEvents }, step) => {
      if (step % 30 === 0) refusedEvents.inc({ event_type: 'orders' });
    },
  },
  {
    alert: 'LendstreamBodiesRefused',
    before: ({ refusedBodies }) => refusedBodies.inc({ budget: 'large' }, 0),
    atTheThreshold: nothing,
    justAbove: once(({ refusedBodies }) => refusedBodies.inc({ budget: 'large' })),
  },
  {
    alert: 'LendstreamOverloaded',
    before: ({ shedRequests }) => shedRequests.inc({ work: 'streams' }, 0),
    atTheThreshold: nothing,
    justAbove: once(({ shedRequests }) => shedRequests.inc({ work: 'streams' })),
  },
  {
    alert: 'LendstreamLimitReached',
    before: ({ accessRefusals }) => {
      accessRefusals.inc({ status: '429', reason: 'open_streams' }, 0);
      accessRefusals.inc({ status: '403', reason: 'permission' }, 0);
    },
    atTheThreshold: ({ accessRefusals }, step) => {
      if (step === 0) accessRefusals.inc({ status: '429', reason: 'open_streams' });
      accessRefusals.inc({ status: '403', reason: 'permission' });
    },
    justAbove: ({ accessRefusals }, step) => {
      if (step % 30 === 0) accessRefusals.inc({ status: '429', reason: 'open_streams' });
    },
  },
  {
    alert: 'LendstreamLoginsFail',
    before: ({ accessRefusals }) => accessRefusals.inc({ status: '429', reason: 'failed_logins' }, 0),
    atTheThreshold: once(({ accessRefusals }) => accessRefusals.inc({ status: '401', reason: 'invalid_credentials' })),
    justAbove: once(({ accessRefusals }) => accessRefusals.inc({ status: '429', reason: 'failed_logins' })),
  },
  {
    alert: 'LendstreamFileDamaged',
    // A damaged copy is rebuilt.
    atTheThreshold: ({ integrityDamages }) => integrityDamages.set({ file: 'accounts.db' }, 1),
    justAbove: ({ integrityDamages }) => integrityDamages.set({ file: 'log.db' }, 1),
  },
  { alert: 'LendstreamMemoryHigh', atTheThreshold: memory(1.5e9), justAbove: memory(1.5e9 + 1) },
  {
    alert: 'LendstreamCertificateExpires',
    atTheThreshold: fourteenDaysLeftAt(quietSeconds + lastingSeconds),
    justAbove: fourteenDaysLeftAt(quietSeconds - 1),
  },
];

const alerts = new Map(readAlerts().map((alert) => [alert.alert, alert]));

/** Those of the service's own metrics in a scrape that an alert looks at: the others would only be written and read. */
async function scraped(metrics: Metrics, alert: string): Promise<Sample[]> {
  const rule = alerts.get(alert)?.expr ?? '';
  const own = metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('lendstream_') && rule.includes(name));
  const texts = await Promise.all(own.map(({ name }) => metrics.registry.getSingleMetricAsString(name)));
  return readExposition(texts.join('\n'));
}

/** The series of a scenario as promtool reads them: a value for each scrape, `_` where there is none. */
async function seriesOf({ alert, before }: Row, scenario: Scenario): Promise<{ series: string; values: string }[]> {
  const metrics = createMetrics();
  before?.(metrics);
  const values = new Map<string, string[]>();
  const steps = (quietSeconds + lastingSeconds) / stepSeconds + 1;
  for (let step = 0; step < steps; step += 1) {
    const begun = step - quietSeconds / stepSeconds;
    const others = (begun < 0 ? undefined : scenario(metrics, begun)) ?? [];
    for (const { name, labels, value } of [...(await scraped(metrics, alert)), ...others]) {
      const all = Object.entries({ ...labels, job: 'lendstream', instance: 'a:8080' });
      const series = `${name}{${all.map(([label, text]) => `${label}=${JSON.stringify(text)}`).join(',')}}`;
      const known = values.get(series) ?? Array.from({ length: steps }, () => '_');
      known[step] = String(value);
      values.set(series, known);
    }
  }
  return [...values].map(([series, points]) => ({ series, values: points.join(' ') }));
}

interface Expectation {
  /** After the start of the condition. */
  readonly seconds: number;
  readonly hasFired: boolean;
}

/** A test of promtool: whether the alert has fired at all until then. */
async function promtoolTest(row: Row, scenario: Scenario, expected: readonly Expectation[]): Promise<object> {
  const firing = `ALERTS{alertname="${row.alert}",alertstate="firing"}`;
  return {
    interval: `${stepSeconds}s`,
    input_series: await seriesOf(row, scenario),
    promql_expr_test: expected.map(({ seconds, hasFired }) => ({
      expr: `clamp_max(count(count_over_time(${firing}[2h])), 1) or vector(0)`,
      eval_time: `${quietSeconds + seconds}s`,
      exp_samples: [{ labels: '{}', value: hasFired ? 1 : 0 }],
    })),
  };
}

describe('deploy/prometheus/alerts.yml', () => {
  let program: string;
  let folder: string;

  before(async function () {
    this.timeout(120_000);
    folder = await temporaryFolder();
    try {
      program = await promtool();
    } catch (error) {
      process.stdout.write(`    skipped: ${describeError(error)}\n`);
      this.skip();
    }
  });
  after(() => removeFolder(folder));

  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    return { status, output: status === 0 ? '' : `${stdout}${stderr}` };
  };

  it('is accepted by promtool, and so is the example of a configuration', () => {
    expect(run('check', 'rules', alertsPath)).to.deep.equal({ status: 0, output: '' });
    const configuration = join(packageRoot, 'deploy/prometheus/prometheus.yml');
    expect(run('check', 'config', '--syntax-only', configuration)).to.deep.equal({ status: 0, output: '' });
  });

  /** Whether promtool finds that the alert alone does what is expected: each of the others takes as long. */
  const judge = async ({ alert }: Row, tests: readonly object[]) => {
    const [rules, file] = [join(folder, 'rules.json'), join(folder, 'test.json')];
    await writeFile(rules, JSON.stringify({ groups: [{ name: 'alert', rules: [alerts.get(alert)] }] }));
    await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: `${stepSeconds}s`, tests }));
    return run('test', 'rules', file);
  };

  for (const row of rows) {
    const forSeconds = Number.parseInt(alerts.get(row.alert)?.for ?? '0', 10) * minute;
    const lasting = forSeconds === 0 ? 'at once' : `after ${forSeconds / minute} min`;
    it(`${row.alert} fires ${lasting} just above its threshold, and never at it`, async () => {
      const tests = [
        await promtoolTest(row, row.atTheThreshold, [{ seconds: lastingSeconds, hasFired: false }]),
        await promtoolTest(row, row.justAbove, [
          { seconds: forSeconds - stepSeconds, hasFired: false },
          { seconds: forSeconds, hasFired: true },
        ]),
      ];
      expect(await judge(row, tests)).to.deep.equal({ status: 0, output: '' });
    });
  }

  it('names a subscription whose consumer never came', async () => {
    const { before, after } = await consumerThatNeverCame();
    const forSeconds = Number.parseInt(alerts.get('LendstreamNoConsumer')?.for ?? '0', 10) * minute;
    const row: Row = { alert: 'LendstreamNoConsumer', atTheThreshold: () => before, justAbove: () => after };
    const tests = [
      await promtoolTest(row, row.atTheThreshold, [{ seconds: lastingSeconds, hasFired: false }]),
      await promtoolTest(row, row.justAbove, [{ seconds: forSeconds, hasFired: true }]),
    ];
    expect(await judge(row, tests)).to.deep.equal({ status: 0, output: '' });
  });
});

/** What a service shows of a subscription that was never streamed, before and after an event is published. */
async function consumerThatNeverCame(): Promise<{ before: Sample[]; after: Sample[] }> {
  const folder = await temporaryFolder();
  const app = await createAppHere(readConfig({ DATA_DIR: folder, PORT: '0' }), silentLogger);
  try {
    const url = await app.start();
    const created = await call(`${url}/event-types`, 'POST', {
      name: 'tests.awaited',
      owning_application: 'tests',
      category: 'undefined',
      schema: { type: 'json_schema', schema: '{}' },
    });
    expect(created.status, created.text).to.equal(201);
    const body = { owning_application: 'tests', event_types: ['tests.awaited'], read_from: 'begin' };
    expect((await call(`${url}/subscriptions`, 'POST', body)).status).to.equal(201);
    const shown = async (): Promise<Sample[]> => {
      const { text } = await call(`${url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
      return readExposition(text).filter(({ name }) => /subscription_unconsumed|open_streams/.test(name));
    };
    const before = await shown();
    expect((await call(`${url}/event-types/tests.awaited/events`, 'POST', [{}])).status).to.equal(200);
    return { before, after: await shown() };
  } finally {
    await app.stop();
    await removeFolder(folder);
  }
}

describe('the alerts of deploy/prometheus/alerts.yml', () => {
  it('all have a row of this test', () => {
    expect([...new Set(rows.map(({ alert }) => alert))]).to.deep.equal(readAlerts().map(({ alert }) => alert));
  });

  it('lead to the heading of each alert in docs/operating.md', () => {
    const anchors = headingAnchors(readFileSync(join(packageRoot, 'docs/operating.md'), 'utf8'));
    for (const { alert, annotations } of readAlerts()) {
      expect(annotations.runbook_url).to.equal(`docs/operating.md#${alert.toLowerCase()}`);
      expect(anchors).to.include(alert.toLowerCase());
    }
  });
});

describe('the counters of alerts', () => {
  it('detect the first increase, because each series exists from the start with 0', async () => {
    const folder = await temporaryFolder();
    const app = await createAppHere(readConfig({ DATA_DIR: folder, PORT: '0' }), silentLogger);
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
