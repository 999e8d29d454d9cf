import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import type { SystemUnderTest } from '../system.ts';
import {
  expectChangelogToShow,
  expectCopyToHave,
  expectEachCommandOnce,
  expectEventsToShow,
  foldChangelog,
  readEvents,
} from './evidence.ts';
import { changeDigits, copyOf, deciderOf, deleteCopy, overwriteMiddle } from './stage.ts';
import { Story, lendingPartitions, storyPartition } from './story.ts';

/** The settings of the service in a story. */
export const settings = { LENDING_PARTITIONS: String(lendingPartitions) };

/** How much of the story is told. */
export interface StoryLength {
  /** How many transactions the loan gets. */
  readonly transactions: number;
  /** Whether processes end with a copy that stays or is damaged, too, and not only with one that is deleted. */
  readonly hasEveryEnd: boolean;
}

/**
 * The campaign tells the whole story on both backends. It takes minutes on a cluster: whenever a process dies, its
 * lease has to end.
 */
export function lengthOf(usual: StoryLength): StoryLength {
  const transactions = process.env['STORY_TRANSACTIONS'];
  return transactions === undefined ? usual : { transactions: Number(transactions), hasEveryEnd: true };
}

/** Several pages. */
const damagedBytes = 64 * 1024;

/**
 * The tests of a story, a chapter each.
 * @param start Gets a folder for the data of a system that it starts. The system is stopped after the story.
 */
export function describeStory(
  start: (folder: string) => Promise<SystemUnderTest>,
  { transactions, hasEveryEnd }: StoryLength,
): void {
  let folder: string;
  let system: SystemUnderTest;
  let story: Story;

  /** The part of its transactions that the loan has at the end of a chapter. */
  const tellUntil = (share: number): Promise<void> => story.tellUntil(Math.floor(transactions * share));

  /**
   * Kills the process that decides while commands are in flight and the story goes on, and starts it again.
   * @param whileDead What happens in between to its copy of the accounts.
   */
  async function killDecider(share: number, whileDead?: (copy: string) => void): Promise<void> {
    const decider = await deciderOf(system, storyPartition);
    const telling = tellUntil(share);
    await story.untilInFlight();
    await decider.kill();
    whileDead?.(copyOf(decider));
    await decider.start();
    await telling;
  }

  before(async function () {
    this.timeout(120_000);
    folder = await temporaryFolder();
    system = await start(join(folder, 'system'));
    story = new Story(system, transactions);
  });

  after(async function () {
    this.timeout(60_000);
    expect(await system.stop()).to.deep.equal([]);
    await removeFolder(folder);
  });

  it('begins: the loan and its neighbours are opened, paid out, taken back and paid out again', async function () {
    this.timeout(60_000);
    await story.begin();
  });

  it('goes on over HTTP and by producers, with all kinds of transactions', async function () {
    this.timeout(120_000);
    await tellUntil(0.2);
  });

  if (hasEveryEnd) {
    it('goes on when the process that decides is killed with commands in flight', async function () {
      this.timeout(120_000);
      await killDecider(0.3);
    });
  }

  it('goes on when a toggle is switched', async function () {
    this.timeout(120_000);
    await story.switchToggle('PRINCIPAL_OVERPAYMENT', true);
    await story.switchToggle('ALLOW_NON_SCHEDULED_FEES', true);
    await tellUntil(0.4);
  });

  it('goes on when the copy of each process is damaged in the middle while it runs', async function () {
    this.timeout(120_000);
    for (const service of system.services.values()) overwriteMiddle(copyOf(service), damagedBytes);
    await story.repeatBeginning();
    await story.read();
    await tellUntil(0.5);
  });

  if (hasEveryEnd) {
    it('goes on when a digit of the copy was changed while its process was stopped', async function () {
      this.timeout(120_000);
      const decider = await deciderOf(system, storyPartition);
      await decider.end();
      expect(changeDigits(copyOf(decider), story.textOfStoredLoan())).to.be.greaterThan(0);
      await decider.start();
      const others = system.shape.work.filter((name) => name !== decider.name).map((name) => system.services.get(name));
      for (const other of others) await other?.end();
      await tellUntil(0.6);
      for (const other of others) await other?.start();
      await story.read();
      expect(readFileSync(decider.logFile, 'utf8')).to.include('The copy of accounts is damaged');
    });

    it('goes on when the copy is damaged in the middle while the process is dead', async function () {
      this.timeout(120_000);
      await killDecider(0.7, (copy) => overwriteMiddle(copy, damagedBytes));
      await story.read();
    });
  }

  it('goes on when the copy of a killed process is deleted', async function () {
    this.timeout(120_000);
    await killDecider(0.85, deleteCopy);
  });

  it('goes on when the toggle is switched back', async function () {
    this.timeout(120_000);
    await story.switchToggle('ALLOW_NON_SCHEDULED_FEES', false);
    await tellUntil(1);
    await story.tellOfEach();
  });

  it('recognises each of its first commands when it is sent again', async function () {
    this.timeout(60_000);
    await story.repeatBeginning();
  });

  it('ends: the events, the changelog, every copy and a rebuilt one say what REST shows', async function () {
    this.timeout(120_000);
    const shown = await story.read();
    for (const service of system.services.values()) expect(await service.end(), service.name).to.equal(true);
    const log = await system.openLog();
    try {
      const events = await readEvents(log, storyPartition);
      const changelog = await foldChangelog(log, storyPartition);
      for (const book of story.books) {
        const ofLoan = { events: events.get(book.id) ?? [], shown: shown.get(book.id) ?? expect.fail(book.id) };
        expectEachCommandOnce(ofLoan.events, book);
        expectEventsToShow(ofLoan.events, book, ofLoan.shown);
        expectChangelogToShow(changelog, book.id, ofLoan.shown, story.toggles);
      }
      const rebuilt = join(folder, 'rebuilt');
      mkdirSync(rebuilt);
      const copies = [...system.services.values()].map((service) => dirname(copyOf(service)));
      for (const dataFolder of [...copies, rebuilt]) {
        await expectCopyToHave(log, dataFolder, lendingPartitions, changelog);
      }
    } finally {
      await log.close();
    }
  });
}
