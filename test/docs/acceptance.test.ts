import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tableRows } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';

/** How many methods each class has that sends requests to a running service. */
const methodCounts = {
  HilaAT: 28,
  HilaRebalanceAT: 9,
  HilaRepartitionAT: 4,
  HilaDeleteEventsAT: 1,
  SubscriptionAT: 22,
  EventTypeAT: 23,
  EventStreamReadingAT: 14,
  PartitionsControllerAT: 9,
  CursorOperationsAT: 2,
  SchemaControllerAT: 5,
  SettingsControllerAT: 7,
  FeatureFlagsAT: 1,
  BlockEventPublishingAT: 1,
  UserJourneyAT: 5,
  CompressedEventPublishingAT: 2,
  HealthCheckAT: 1,
  MetricsAT: 1,
  InvalidRequestAT: 1,
  SubscriptionConsumptionTest: 6,
  TimelineConsumptionTest: 5,
  TimelinesControllerAT: 1,
  StorageControllerAT: 1,
  BinaryEndToEndAT: 4,
  BinaryEventPublisherAT: 5,
  AuditLogAT: 2,
  NakadiKpiInitializationAT: 1,
};

const folder = 'test/acceptance/streaming';

const rows = tableRows(readFileSync(join(packageRoot, 'docs/acceptance.md'), 'utf8')).map(
  ([className = '', method = '', here = '']) => ({
    name: `${className} ${method}`,
    className,
    here,
    test: /^\[([\w-]+)\]\(\.\.\/test\/acceptance\/streaming\/\1\.test\.ts\): "([^"]+)"$/.exec(here),
  }),
);

/** The titles of the tests of a file. */
function titlesOf(file: string): string[] {
  const source = readFileSync(join(packageRoot, folder, file), 'utf8');
  return [...source.matchAll(/\bit\(\s*(['"`])(.+?)\1,/g)].map(([, , title = '']) => title);
}

const titles = new Map(
  readdirSync(join(packageRoot, folder))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => [file.slice(0, -'.test.ts'.length), titlesOf(file)]),
);

describe('docs/acceptance.md', () => {
  it('has every method of every class once', () => {
    const counts: Record<string, number> = {};
    for (const { className } of rows) counts[className] = (counts[className] ?? 0) + 1;
    expect(counts).to.deep.equal(methodCounts);
    expect(new Set(rows.map(({ name }) => name)).size).to.equal(rows.length);
  });

  it('names for each method one test that exists, or why it is left out', () => {
    const wrong = rows.filter(({ here, test }) => {
      if (test === null) return !/^(out|not yet): \w/.test(here);
      const [, file = '', part = ''] = test;
      return (titles.get(file) ?? []).filter((title) => title.startsWith(part)).length === 0;
    });
    expect(wrong.map(({ name, here }) => `${name}: ${here}`)).to.deep.equal([]);
  });

  it('names every test of the files that it names', () => {
    const shown = rows.flatMap(({ test }) => (test === null ? [] : [{ file: test[1], part: test[2] ?? '' }]));
    const files = new Set(shown.map(({ file }) => file));
    const unnamed = [...titles].flatMap(([file, all]) =>
      files.has(file)
        ? all.filter((title) => !shown.some((one) => one.file === file && title.startsWith(one.part)))
        : [],
    );
    expect(unnamed).to.deep.equal([]);
  });
});
