import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { AccountTables, type CommandRow } from '../../src/accounts/account-tables.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const day = 24 * 3_600_000;
const partition = 3;

describe('remembered commands in the tables of accounts', () => {
  let folder: string;
  let tables: AccountTables;
  let nextOffset: number;

  const open = (): AccountTables => new AccountTables(join(folder, 'accounts.db'));

  beforeEach(async () => {
    folder = await temporaryFolder();
    tables = open();
    nextOffset = 0;
  });
  afterEach(async () => {
    tables.close();
    await removeFolder(folder);
  });

  const at = (decidedAt: number): CommandRow => ({ decidedAt, state: `decided at ${decidedAt}` });

  /** Applies what one commit says of commands, in a partition. */
  function apply(commands: Readonly<Record<string, CommandRow | null>>, where = partition): void {
    nextOffset += 1;
    tables.apply({
      partition: where,
      nextOffset,
      products: new Map(),
      pages: [],
      loans: new Map(),
      transactions: new Map(),
      commands: new Map(Object.entries(commands)),
      commandOffset: undefined,
    });
  }

  const finishFilling = (): Promise<void> => tables.finishFilling(() => Promise.resolve());
  const remembered = (): string[] => tables.commandsDecidedUpTo(partition, Number.MAX_SAFE_INTEGER, 100);

  for (const [when, prepare] of [
    ['while the file is filled', () => Promise.resolve()],
    ['afterwards', finishFilling],
  ] as const) {
    describe(when, () => {
      beforeEach(() => prepare());

      it('have one row for each command of a partition, the later one when a command was done again', async () => {
        apply({ again: at(0), once: at(1) });
        apply({ again: at(5) }, partition + 1);
        apply({ again: at(day) });
        await finishFilling();
        expect(remembered()).to.deep.equal(['once', 'again']);
        expect(tables.commandState('again', partition)).to.equal(`decided at ${day}`);
        expect(tables.commandState('again', partition + 1)).to.equal('decided at 5');
        expect(tables.commandState('again')).to.equal(`decided at ${day}`);
        apply({ again: at(2 * day) });
        expect(remembered()).to.deep.equal(['once', 'again']);
      });

      it('are forgotten, with all that was done under their id, and may come again', async () => {
        apply({ gone: at(0), back: at(0), other: at(1) });
        apply({ gone: at(day), back: at(day) });
        apply({ gone: null, back: null, unknown: null });
        apply({ back: at(2 * day) });
        await finishFilling();
        expect(remembered()).to.deep.equal(['other', 'back']);
        expect(tables.commandState('gone', partition)).to.equal(undefined);
        expect(tables.commandState('back', partition)).to.equal(`decided at ${2 * day}`);
      });
    });
  }

  it('are complete when the filling was interrupted', async () => {
    apply({ again: at(0) });
    tables.close();
    tables = open();
    expect(tables.isFilled).to.equal(false);
    apply({ again: at(day) });
    await finishFilling();
    expect(remembered()).to.deep.equal(['again']);
    tables.close();
    tables = open();
    expect([tables.isFilled, tables.commandState('again', partition)]).to.deep.equal([true, `decided at ${day}`]);
  });
});
