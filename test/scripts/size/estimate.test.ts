import { expect } from 'chai';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import {
  contradictionsOf,
  estimate,
  exampleLoad,
  usualCapacity,
  usualChangesPerSecond,
  type Load,
  type Need,
} from '../../../scripts/size/estimate.ts';
import { linesOf } from '../../../scripts/size/lines.ts';
import { fixed, measured } from '../../../scripts/size/measured.ts';
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
  changesPerSecond: 0,
  retentionHours: 96,
  replicationFactor: 3,
  loans: 1_000,
  transactionsPerLoan: 10,
  commandsPerSecond: 10,
  lendingPartitions: 4,
};

function needOf(name: string, load: Partial<Load>): Need {
  const needs = estimate({ ...small, ...load }, usualCapacity);
  const found = needs.find((need) => need.name === name);
  if (found === undefined) throw new Error(`There is no need "${name}"`);
  return found;
}

/** The amount; one that no number is enough for is above all others. */
function amountOf(name: string, load: Partial<Load>): number {
  return needOf(name, load).amount ?? Number.POSITIVE_INFINITY;
}

function lineOf(need: Need): string {
  return linesOf([need]).at(-1) ?? '';
}

describe('What an installation needs', () => {
  it('is one process, one Redis and a broker for each replica where the load is small', () => {
    expect(needOf('serving processes', {}).amount).to.equal(1);
    expect(needOf('working processes', {}).amount).to.equal(1);
    expect(needOf('Redis primaries', {}).amount).to.equal(1);
    expect(needOf('brokers', {}).amount).to.equal(3);
  });

  it('is one process up to half of a core, and two beyond', () => {
    const watching = measured.idleStreamMicroseconds.value;
    const commitsOfOneProcess = Math.floor(
      (usualCapacity.busyShare * 1e6 - watching) / measured.commitMicroseconds.value,
    );
    const commitsOnly = {
      eventsPerSecond: 0,
      streams: 1,
      secondsBetweenCommits: 1 / commitsOfOneProcess,
      loans: 0,
      commandsPerSecond: 0,
    };
    expect(needOf('serving processes', commitsOnly)).to.include({
      amount: 1,
      because: 'commits',
    });
    const oneMore = {
      ...commitsOnly,
      secondsBetweenCommits: 1 / (commitsOfOneProcess + 1),
    };
    expect(needOf('serving processes', oneMore).amount).to.equal(2);
  });

  it('names what decides the number of serving processes', () => {
    const publishing = { eventsPerSecond: 1e6, eventTypesPerSubscription: 0 };
    expect(needOf('serving processes', publishing).because).to.equal('publishing');
    expect(
      needOf('serving processes', {
        eventsPerSecond: 1e6,
        subscriptions: 1_000,
      }).because,
    ).to.equal('delivering');
    const idle = {
      eventsPerSecond: 0,
      streams: 1e6,
      secondsBetweenCommits: 3_600,
    };
    expect(needOf('serving processes', idle).because).to.equal('watching over open streams');
    expect(needOf('serving processes', { ...idle, subscriptions: 680_000 }).because).to.include('memory');
  });

  it('counts a subscription once for each process that watches it', () => {
    const few = needOf('Redis primaries', {
      streams: 50_000,
      subscriptions: 50_000,
      secondsBetweenCommits: 3_600,
    });
    const shared = needOf('Redis primaries', {
      streams: 50_000,
      subscriptions: 5,
      secondsBetweenCommits: 3_600,
    });
    expect(few.because).to.equal('checks of watched subscriptions');
    expect(shared.amount).to.equal(1);
  });

  it('names what decides the number of brokers', () => {
    expect(needOf('brokers', { eventTypes: 10_000, eventsPerSecond: 0 })).to.include({
      amount: Math.ceil(((10_000 * 4 + fixed.lendingTopics * 4) * 3) / usualCapacity.replicasPerBroker),
      because: 'partitions',
    });
    expect(needOf('brokers', { eventsPerSecond: 100_000, subscriptions: 0 }).because).to.equal('disks');
    expect(needOf('brokers', { eventsPerSecond: 1_000_000, retentionHours: 1 }).because).to.equal('network');
  });

  it('shows a limit that is reached, and one that is exceeded', () => {
    const streams = { subscriptions: 50, partitionsPerEventType: 4 };
    const reached = needOf('streams of a subscription', {
      ...streams,
      streams: 200,
    });
    const exceeded = needOf('streams of a subscription', {
      ...streams,
      streams: 201,
    });
    expect(lineOf(reached)).to.not.include('exceeded');
    expect(lineOf(exceeded)).to.include('| **4, exceeded**: more partitions of its event types |');
  });

  it('counts what one of more than a hundred partitions needs a setting for, and no more than a thousand', () => {
    const partitions = (partitionsPerEventType: number): string =>
      lineOf(needOf('partitions of a subscription', { partitionsPerEventType }));
    expect(partitions(1_000)).to.include('beyond 100, SUBSCRIPTION_PARTITIONS_MAXIMUM').and.not.include('exceeded');
    expect(partitions(1_001)).to.include('**1,000, exceeded**');
  });

  it('is no more than one worker for each partition of loans when a day is closed', () => {
    const loans = 100_000_000;
    const needed = needOf('working processes', { loans, lendingPartitions: 1 });
    expect(needed.amount).to.be.above(1);
    expect(lineOf(needed)).to.include('**1, exceeded**: LENDING_PARTITIONS');
    expect(lineOf(needOf('end of a day', { loans, lendingPartitions: 1 }))).to.include('**60, exceeded**');
    expect(lineOf(needOf('end of a day', { loans, lendingPartitions: 4 }))).to.not.include('exceeded');
  });

  it('leaves to serving what following accounts does not take', () => {
    const serving = { streams: 1e6, subscriptions: 1_000 };
    const following = needOf('following accounts', { loans: 1e8, commandsPerSecond: 1_000 }).amount ?? Number.NaN;
    const alone =
      needOf('serving processes', {
        ...serving,
        loans: 0,
        commandsPerSecond: 0,
      }).amount ?? Number.NaN;
    const beside = needOf('serving processes', {
      ...serving,
      loans: 1e8,
      commandsPerSecond: 1_000,
    }).amount;
    expect(beside).to.be.closeTo((alone * usualCapacity.busyShare) / (usualCapacity.busyShare - following), 2);
  });

  it('counts the end of a day in what it takes to follow accounts', () => {
    const due = 1e9 / 30 / 3_600;
    expect(needOf('following accounts', { loans: 1e9, commandsPerSecond: 0 }).amount).to.be.closeTo(
      (due * measured.followedCommandMicroseconds.value) / 1e6,
      1e-9,
    );
  });

  it('is impossible where following accounts or definitions leave nothing, and says what would help', () => {
    const followed = needOf('serving processes', { loans: 1e9 });
    expect(lineOf(followed)).to.include('| impossible |').and.include('processes that follow some partitions');
    expect(lineOf(needOf('working processes', { loans: 1e9 }))).to.include('| impossible |');
    const defined = needOf('serving processes', { subscriptions: 900_000 });
    expect(lineOf(defined)).to.include('| impossible |').and.include('fewer subscriptions, or more memory');
    for (const name of ['memory of a serving process', 'brokers', 'network of all brokers']) {
      expect(lineOf(needOf(name, { subscriptions: 900_000 })), name).to.include('depends on the number of processes');
    }
  });

  it('checks each watched subscription as often as its shard changes, but not more than once in a round', () => {
    const load = {
      streams: 1e6,
      subscriptions: 100_000,
      secondsBetweenCommits: 3_600,
    };
    const primaries = (changesPerSecond: number): number => amountOf('Redis primaries', { ...load, changesPerSecond });
    const inEachRound = (16 / fixed.checkRoundSeconds) * (1 - fixed.checkRoundSeconds / fixed.checkAtRestSeconds);
    expect(primaries(0)).to.be.below(primaries(inEachRound) / 10);
    expect(primaries(inEachRound))
      .to.be.at.most(primaries(1_000))
      .and.at.least(primaries(1_000) - 1);
    expect(needOf('Redis primaries', { ...load, changesPerSecond: 1_000 }).because).to.equal(
      'checks of watched subscriptions',
    );
  });

  it('has two changes an hour for each stream, unless the load says otherwise', () => {
    expect(usualChangesPerSecond(1_800)).to.equal(1);
  });

  it('counts what loans store when it counts brokers', () => {
    const day = { loans: 0, retentionHours: 96, eventsPerSecond: 0 };
    const disks = needOf('disks of all brokers', { ...day, commandsPerSecond: 3_000 }).amount ?? Number.NaN;
    expect(needOf('brokers', { ...day, commandsPerSecond: 3_000 })).to.include({
      amount: Math.ceil(disks / usualCapacity.brokerTerabytes),
      because: 'disks',
    });
  });

  it('keeps each transaction for ever, in the changelog and in each copy', () => {
    for (const name of ['accounts.db of each process', 'changelog of accounts', 'reading accounts.db from the log']) {
      const [none, one, two] = [0, 1, 2].map((transactionsPerLoan) =>
        amountOf(name, { loans: 1e8, transactionsPerLoan }),
      ) as [number, number, number];
      expect(two - one, name)
        .to.be.closeTo(one - none, 1e-9)
        .and.above(0);
    }
    expect(
      amountOf('growth of accounts.db in a month', {
        loans: 0,
        commandsPerSecond: 1_000,
      }),
    ).to.be.closeTo((1_000 * 30 * 86_400 * measured.transactionBytesInCopy.value) / 1e12, 1e-9);
  });

  it('cannot be worked out for subscriptions that read more event types than there are', () => {
    expect(
      contradictionsOf({
        ...small,
        eventTypes: 1,
        eventTypesPerSubscription: 1,
      }),
    ).to.deep.equal([]);
    expect(
      contradictionsOf({
        ...small,
        eventTypes: 1,
        eventTypesPerSubscription: 2,
      }),
    ).to.have.length(1);
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

  it('is what the text of docs/scale.md says', () => {
    const text = readFileSync(join(packageRoot, 'docs/scale.md'), 'utf8').replaceAll(/\s+/g, ' ');
    const cellOf = (name: string, load: Partial<Load> = {}): string => {
      const needs = estimate({ ...exampleLoad, ...load }, usualCapacity).filter((need) => need.name === name);
      return linesOf(needs).at(-1)?.split('|')[2]?.trim().split(' ')[0] ?? '';
    };
    const { checkRoundSeconds, checkAtRestSeconds, redisShards, streamSeconds } = fixed;
    const changes = redisShards * (1 / checkRoundSeconds - 1 / checkAtRestSeconds);
    const loans = ((usualCapacity.busyShare * 1e6) / measured.followedCommandMicroseconds.value - 1_000) * 30 * 3_600;
    for (const sentence of [
      `so ${Math.round(exampleLoad.changesPerSecond)} streams open or close in a second`,
      `From ${(Math.floor((changes * streamSeconds) / 2_000) * 1_000).toLocaleString('en-US')} streams on`,
      `without changes, ${cellOf('Redis primaries', { changesPerSecond: 0 })} primaries are enough`,
      `the file has ${cellOf('accounts.db of each process')} TB`,
      `grows by up to ${cellOf('growth of accounts.db in a month')} TB a month`,
      `reads for ${Math.round(Number(cellOf('reading accounts.db from the log')))} hours`,
      `on one thread: ${cellOf('following accounts')} of a core`,
      `from ${Math.ceil(loans / 1e6)} million loans on`,
      `waits for ${cellOf('partitions that a process waits for')} partitions`,
      `${cellOf('requests for events, in that')} GB/s for all processes`,
      `${cellOf('working processes', { loans: 275_000_000 })} processes close the day of 275 million loans`,
      `${cellOf('until an empty Redis is filled again')} minutes for 1.6 million cursors`,
    ]) {
      expect(text).to.include(sentence);
    }
    expect(cellOf('serving processes', { loans: 1e9 })).to.equal('impossible');
  });

  it('grows in proportion where each one costs the same', () => {
    for (const [name, one, ten] of [
      ['accounts.db of each process', { loans: 1_000_000 }, { loans: 10_000_000 }],
      ['published events', { eventsPerSecond: 1_000 }, { eventsPerSecond: 10_000 }],
      ['changelog of accounts', { loans: 1_000_000 }, { loans: 10_000_000 }],
    ] as const) {
      expect(amountOf(name, ten), name).to.be.closeTo(10 * amountOf(name, one), 1e-9);
    }
  });

  const amounts = fc.record({
    streams: upTo(10_000_000),
    subscriptions: upTo(1_000_000),
    eventTypes: fc.integer({ min: 10, max: 100_000 }),
    partitionsPerEventType: fc.integer({ min: 1, max: 2_000 }),
    eventTypesPerSubscription: fc.integer({ min: 1, max: 10 }),
    eventsPerSecond: upTo(10_000_000),
    eventBytes: upTo(100_000),
    secondsBetweenCommits: fc.double({ min: 0.001, max: 10_000, noNaN: true }),
    changesPerSecond: upTo(100_000),
    retentionHours: upTo(10_000),
    replicationFactor: fc.integer({ min: 1, max: 5 }),
    loans: upTo(10_000_000_000),
    transactionsPerLoan: upTo(1_000),
    commandsPerSecond: upTo(1_000_000),
    lendingPartitions: fc.integer({ min: 1, max: 100 }),
  });

  it('is finite or said to be impossible, and marked where it is above its limit, for every load', () => {
    fc.assert(
      fc.property(amounts, (load) => {
        for (const need of estimate(load, usualCapacity)) {
          const { name, amount, limit, because } = need;
          const line = lineOf(need);
          if (amount === undefined) expect(line, name).to.include('| impossible |').and.include(because);
          else expect(Number.isFinite(amount) && amount >= 0, `${name}: ${amount}`).to.equal(true);
          const isAbove = amount !== undefined && limit !== undefined && amount > limit.amount;
          expect(line.includes('exceeded'), name).to.equal(isAbove);
        }
      }),
    );
  });

  it('never becomes less when one of the numbers of the load grows', () => {
    /** More event types share the same events; more partitions of loans let more processes work. */
    const isMore = (field: string): boolean => field !== 'eventTypes' && field !== 'lendingPartitions';
    const fields = Object.keys(small).filter(isMore) as (keyof Load)[];
    fc.assert(
      fc.property(
        amounts,
        fc.constantFrom(...fields),
        fc.double({ min: 1, max: 10, noNaN: true }),
        (load, field, by) => {
          const grown = field === 'secondsBetweenCommits' ? load[field] / by : Math.ceil(load[field] * by);
          const [before, after] = [load, { ...load, [field]: grown }].map((each) => estimate(each, usualCapacity));
          for (const [index, { name, amount = Number.POSITIVE_INFINITY, isShared = false }] of (
            before ?? []
          ).entries()) {
            const more = after?.[index]?.amount ?? Number.POSITIVE_INFINITY;
            if (!isShared) expect(more, `${name} with more ${field}`).to.be.at.least(amount * (1 - 1e-9));
          }
        },
      ),
    );
  });
});

/** Numbers of every size, most of them small. */
function upTo(most: number): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, noNaN: true }).map((share) => Math.max(1, Math.round(most ** share)));
}
