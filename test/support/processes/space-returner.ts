import { AccountTables } from '../../../src/accounts/account-tables.ts';
import { systemClock } from '../../../src/clock.ts';

/** Gives space of a local copy of accounts back to the disk until it is killed. Its argument is the file. */
const [file = ''] = process.argv.slice(2);
new AccountTables(file).giveSpaceBack(systemClock, (error) => {
  throw error;
});
setInterval(() => {}, 60_000);
