import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { estimate, exampleLoad, usualCapacity, type Load, type Need } from '../../../scripts/size/estimate.ts';
import { linesOf } from '../../../scripts/size/lines.ts';
import { measured } from '../../../scripts/size/measured.ts';
import { packageRoot } from '../../../src/package-root.ts';

const small: Load = {
  streams: 100,
  subscriptions: 50,
  eventTypes: 10,
  partitionsPerEventType: 4,
  eventTypesPerSubscription: 1,
  eventsPerSecond: 1_000,
  eventBytes: 200,
  secondsBetweenCommits: 1,
  retentionHours: 96,
  replicationFactor: 3,
  loans: 1_000,
  commandsPerSecond: 10,
  lendingPartitions: 4,
};

function needOf(name: string, load: Partial<Load>): Need {
  const needs = estimate({ ...small, ...load }, usualCapacity);
  const found = needs.find((need) => need.name === name);
  if (found === undefined) throw new Error(`There is no need "${name}"`);
  return found;
}

describe('What an installation needs', () => {
  it('is one process, one Redis and a broker for each replica where the load is small', () => {
    expect(needOf('serving processes', {}).amount).to.equal(1);
    expect(needOf('working processes', {}).amount).to.equal(1);
    expect(needOf('Redis primaries', {}).amount).to.equal(1);
    expect(needOf('brokers', {}).amount).to.equal(3);
  });

  it('is one process up to half of a core, and two beyond', () => {
    const commitsOfOneProcess = Math.floor((usualCapacity.busyShare * 1e6) / measured.commitMicroseconds.value);
    const commitsOnly = { eventsPerSecond: 0, streams: 1, secondsBetweenCommits: 1 / commitsOfOneProcess };
    expect(needOf('serving processes', commitsOnly)).to.include({ amount: 1, because: 'commits' });
    const oneMore = { ...commitsOnly, secondsBetweenCommits: 1 / (commitsOfOneProcess + 1) };
    expect(needOf('serving processes', oneMore).amount).to.equal(2);
  });

  it('names what decides the number of serving processes', () => {
    const publishing = { eventsPerSecond: 1e6, eventTypesPerSubscription: 0 };
    expect(needOf('serving processes', publishing).because).to.equal('publishing');
    expect(needOf('serving processes', { eventsPerSecond: 1e6, subscriptions: 1_000 }).because).to.equal('delivering');
    const idle = { eventsPerSecond: 0, streams: 1e6, secondsBetweenCommits: 3_600 };
    expect(needOf('serving processes', idle).because).to.equal('watching over open streams');
    expect(needOf('serving processes', { ...idle, subscriptions: 540_000 }).because).to.include('memory');
  });

  it('counts a subscription once for each process that watches it', () => {
    const few = needOf('Redis primaries', { streams: 50_000, subscriptions: 50_000, secondsBetweenCommits: 3_600 });
    const shared = needOf('Redis primaries', { streams: 50_000, subscriptions: 5, secondsBetweenCommits: 3_600 });
    expect(few.because).to.equal('checks of watched subscriptions');
    expect(shared.amount).to.equal(1);
  });

  it('names what decides the number of brokers', () => {
    expect(needOf('brokers', { eventTypes: 10_000, eventsPerSecond: 0 })).to.include({
      amount: (10_000 * 4 * 3) / usualCapacity.replicasPerBroker,
      because: 'partitions',
    });
    expect(needOf('brokers', { eventsPerSecond: 100_000, subscriptions: 0 }).because).to.equal('disks');
    expect(needOf('brokers', { eventsPerSecond: 100_000, retentionHours: 1 }).because).to.equal('network');
  });

  it('shows a limit that is reached, and one that is exceeded', () => {
    const streams = { subscriptions: 50, partitionsPerEventType: 4 };
    const reached = needOf('streams of a subscription that receive events', { ...streams, streams: 200 });
    const exceeded = needOf('streams of a subscription that receive events', { ...streams, streams: 201 });
    expect(linesOf([reached]).at(-1)).to.not.include('exceeded');
    expect(linesOf([exceeded]).at(-1)).to.include('| 4, exceeded');
  });

  it('is no more than one worker for each partition of loans when a day is closed', () => {
    const loans = 100_000_000;
    const alone = needOf('end of a day', { loans, lendingPartitions: 1 });
    const two = needOf('end of a day', { loans, lendingPartitions: 2 });
    expect(alone.amount).to.equal(2 * two.amount);
    expect(needOf('working processes', { loans: 1e9, lendingPartitions: 4 })).to.include({ amount: 16, limit: 4 });
  });

  it('is in docs/scale.md, with the costs as they are measured now', () => {
    const rowsIn = (lines: readonly string[]): string[][] =>
      lines.filter((line) => line.startsWith('| ')).map((line) => line.split('|').map((cell) => cell.trim()));
    const document = readFileSync(join(packageRoot, 'docs/scale.md'), 'utf8').split('## What gives way first')[0] ?? '';
    const withoutRule = (rows: string[][]): string[][] => rows.filter(([, first]) => !/^-+$/.test(first ?? ''));
    expect(withoutRule(rowsIn(document.split('\n')))).to.deep.equal(
      withoutRule(rowsIn(linesOf(estimate(exampleLoad, usualCapacity)))),
    );
  });

  it('grows in proportion where each one costs the same', () => {
    for (const [name, one, ten] of [
      ['accounts.db of each process', { loans: 1_000_000 }, { loans: 10_000_000 }],
      ['disks of all brokers', { eventsPerSecond: 1_000 }, { eventsPerSecond: 10_000 }],
      ['network to consumers', { eventsPerSecond: 1_000 }, { eventsPerSecond: 10_000 }],
      ['changelog of accounts', { loans: 1_000_000 }, { loans: 10_000_000 }],
    ] as const) {
      expect(needOf(name, ten).amount, name).to.be.closeTo(10 * needOf(name, one).amount, 1e-9);
    }
  });
});
