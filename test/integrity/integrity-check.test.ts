import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/clock.ts';
import type { CheckStep } from '../../src/integrity/check-thread.ts';
import { type DamageReport, IntegrityCheck } from '../../src/integrity/integrity-check.ts';
import { silentLogger } from '../../src/logger.ts';
import { type Connection, openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import type { Logger } from '../../src/logger.ts';
import { recordingLogger, type LogLine } from '../support/values/recording-logger.ts';

const script = new URL('./check-of-tables.js', import.meta.url);
const pageBytes = 4_096;
const day = 86_400_000;

interface Line extends LogLine {
  readonly checkedPercent?: number;
  readonly damage?: string;
}

describe('the check of a file in the background', () => {
  let folder: string;
  let path: string;
  let database: Connection;
  let clock: SimulatedClock;
  let lines: Line[];
  let reports: DamageReport[];
  let check: IntegrityCheck;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'some.db');
    database = openDatabase(path);
    database.exec(`CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
      INSERT INTO accounts SELECT n, 'account ' || n FROM n`);
    clock = new SimulatedClock();
    reports = [];
    const recording = recordingLogger<Line>();
    lines = recording.lines;
    const { logger } = recording;
    check = new IntegrityCheck({ path, script, clock, logger, onDamages: (damages) => reports.push(damages) });
  });
  afterEach(async () => {
    await check.close();
    expect(clock.nextDeadline()).to.equal(Infinity);
    database.close();
    await removeFolder(folder);
  });

  /** Turns the clock until a number of checks have ended. */
  async function untilFinished(): Promise<void> {
    const before = check.progress.finishedAt;
    await eventually(async () => {
      await clock.turn(4);
      return check.progress.finishedAt !== before;
    });
  }

  /** Overwrites the last page of the file, and returns what was there. */
  function overwriteLastPage(content: Uint8Array = Buffer.alloc(pageBytes, 0xff)): Uint8Array {
    const at = statSync(path).size - pageBytes;
    const before = readFileSync(path).subarray(at);
    const file = openSync(path, 'r+');
    writeSync(file, content, 0, pageBytes, at);
    closeSync(file);
    return before;
  }

  it('begins ten seconds after the start, and again a day after it ended', async () => {
    expect(check.progress).to.deep.equal({ file: 'some.db', checkedShare: 0, finishedAt: null, damageCount: 0 });
    await clock.turn(9_999);
    expect(lines).to.deep.equal([]);
    await clock.turn(1);
    expect(lines.map(({ message }) => message)).to.deep.equal(['Checking the integrity of a file']);
    await untilFinished();
    const { finishedAt, ...progress } = check.progress;
    expect(progress).to.deep.equal({ file: 'some.db', checkedShare: 1, damageCount: 0 });
    expect(clock.now() - Number(finishedAt)).to.be.within(0, 4);
    expect(reports).to.deep.equal([{ count: 0, first: null }]);
    const before = lines.length;
    await clock.turn(day - 5);
    expect(lines).to.have.length(before);
    await clock.turn(5);
    await untilFinished();
    expect(check.progress.finishedAt).to.be.above(Number(finishedAt));
  });

  it('rests at least 4 ms after each step', async () => {
    await clock.turn(10_000);
    await eventually(() => check.progress.checkedShare > 0);
    await eventually(() => clock.nextDeadline() === clock.monotonic() + 4);
    const { checkedShare } = check.progress;
    await clock.turn(3);
    expect(check.progress.checkedShare).to.equal(checkedShare);
    await clock.turn(1);
    await eventually(() => check.progress.checkedShare > checkedShare);
  });

  it('reports damage when it is found and counts it until a check finds none', async () => {
    const before = overwriteLastPage();
    await clock.turn(10_000);
    await untilFinished();
    expect(check.progress.damageCount).to.equal(1);
    const report = { count: 1, first: 'Table accounts cannot be read.' };
    expect(reports).to.deep.equal([report, report]);
    expect(lines.filter(({ level }) => level === 'error')).to.have.length(1);
    expect(lines.find(({ level }) => level === 'error')).to.deep.equal({
      level: 'error',
      message: 'A file is damaged',
      file: 'some.db',
      damage: 'Table accounts cannot be read.',
    });
    overwriteLastPage(before);
    await clock.turn(day);
    await untilFinished();
    expect(check.progress.damageCount).to.equal(0);
    expect(reports.at(-1)).to.deep.equal({ count: 0, first: null });
  });

  it('is tried again a minute later when the file cannot be opened', async () => {
    database.close();
    rmSync(path);
    await clock.turn(10_000);
    await eventually(() => lines.some(({ message }) => message === 'Checking a file failed; retrying'));
    database = openDatabase(path);
    database.exec('CREATE TABLE accounts (id INTEGER PRIMARY KEY) STRICT');
    await clock.turn(59_000);
    expect(check.progress.finishedAt).to.equal(null);
    await clock.turn(1_000);
    await untilFinished();
  });

  it('ends when it is closed, also in the middle of a file', async () => {
    await clock.turn(10_000);
    await eventually(() => check.progress.checkedShare > 0);
    await check.close();
    expect(check.progress.finishedAt).to.equal(null);
  });
});

describe('the steps of a check in the background', () => {
  let folder: string;
  let clock: SimulatedClock;

  beforeEach(async () => {
    folder = await temporaryFolder();
    clock = new SimulatedClock();
  });
  afterEach(() => removeFolder(folder));

  /** A check that begins at once and finds these things, step by step. */
  function start(
    steps: readonly Partial<CheckStep>[],
    { logger, clock: own = clock }: { logger: Logger; clock?: Clock },
  ) {
    const path = join(folder, 'steps.json');
    writeFileSync(
      path,
      JSON.stringify(steps.map((step) => ({ isDone: false, checkedShare: 0, damages: [], ...step }))),
    );
    const script = new URL('./check-by-script.js', import.meta.url);
    const firstCheckMilliseconds = 0;
    return new IntegrityCheck({ path, script, clock: own, logger, firstCheckMilliseconds, onDamages: () => undefined });
  }

  async function untilFinished(check: IntegrityCheck): Promise<void> {
    await eventually(async () => {
      await clock.turn(4);
      return check.progress.finishedAt !== null;
    });
    await check.close();
  }

  it('are logged when a tenth of the file more was read, not before', async () => {
    const { logger, lines } = recordingLogger<Line>();
    const shares = [0.099, 0.1, 0.199, 0.2, 0.45, 0.549, 0.99];
    await untilFinished(
      start(
        shares.map((checkedShare) => ({ checkedShare })),
        { logger },
      ),
    );
    const logged = lines.filter(({ message }) => message === 'Checking a file continues');
    expect(logged.map(({ checkedPercent }) => checkedPercent)).to.deep.equal([10, 20, 45, 99]);
  });

  it('log the first twenty damages of a check, and count all', async () => {
    const { logger, lines } = recordingLogger<Line>();
    const damagesOf = (count: number, name: string): string[] =>
      Array.from({ length: count }, (_, index) => `${name} ${index}`);
    const steps = [damagesOf(19, 'early'), damagesOf(2, 'middle'), damagesOf(1, 'late')];
    const check = start(
      steps.map((damages) => ({ damages })),
      { logger },
    );
    await untilFinished(check);
    const logged = lines.filter(({ level }) => level === 'error').map(({ damage }) => damage);
    expect(logged).to.deep.equal([...damagesOf(19, 'early'), 'middle 0']);
    expect(check.progress.damageCount).to.equal(22);
  });

  it('are followed by a rest of three times as long as they took', async () => {
    const stepMilliseconds = 50;
    let passed = 0;
    // Each look at the clock is later than the one before, so that a step takes as long as between two of them.
    const slow = overriding<Clock>(clock, { monotonic: () => clock.monotonic() + (passed += stepMilliseconds) });
    const check = start([{ checkedShare: 0.5 }], { logger: silentLogger, clock: slow });
    await clock.turn(0);
    await eventually(() => clock.nextDeadline() === clock.monotonic() + 3 * stepMilliseconds);
    await untilFinished(check);
  });
});
