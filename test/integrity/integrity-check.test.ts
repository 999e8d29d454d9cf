import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type DamageReport, IntegrityCheck } from '../../src/integrity/integrity-check.ts';
import { silentLogger } from '../../src/logger.ts';
import { type Connection, openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const script = new URL('./check-of-tables.js', import.meta.url);
const pageBytes = 4_096;
const day = 86_400_000;

interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
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
    lines = [];
    reports = [];
    const write =
      (level: Line['level']) =>
      (facts: object, message: string): void =>
        void lines.push({ level, message, ...facts });
    const logger = { ...silentLogger, info: write('info'), warn: write('warn'), error: write('error') };
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
