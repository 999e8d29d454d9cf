import { randomUUID } from 'node:crypto';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { silentLogger } from '../../../src/logger.ts';
import { CommandBatch } from '../../../src/worker/command-batch.ts';
import { LoanStore } from '../../../src/worker/loan-store.ts';
import { emptyCopy } from '../empty-copy.ts';
import { feeProduct } from '../fee-product.ts';

/**
 * The least that a command costs: the worker's own code parses it, decides it and encodes all that the commit would
 * write. Nothing is read, stored, sent or served. The commands are those of the load: fees on loans in turns. Prints
 * the processor time of each, of all threads together, garbage collection included.
 */
interface Settings {
  /** The folder of an empty log, in which the definitions would be. */
  readonly dataFolder: string;
  readonly loansPerRound: number;
  readonly commandsPerLoan: number;
  readonly commandsPerCommit: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { dataFolder, loansPerRound, commandsPerLoan, commandsPerCommit } = settings;
const [warmUpRounds, rounds] = [2, 4];
const idempotencyMilliseconds = 24 * 3_600_000;

const log = await EmbeddedLog.open({ dataFolder, logger: silentLogger });
const registry = new Registry(log, silentLogger);
await registry.start();
const store = await LoanStore.open(emptyCopy, 0, new AbortController().signal);
const now = Date.now();
let offset = 0;

interface Command {
  readonly type: string;
  readonly loanAccountId?: string;
  readonly loanProductId?: string;
  readonly payload: object;
}

/** Decides commands in one commit. @returns the processor time of that, in microseconds */
async function decide(commands: readonly Command[]): Promise<number> {
  const values = commands.map((command) => {
    const metadata = { eid: randomUUID(), received_at: new Date(now).toISOString() };
    return Buffer.from(JSON.stringify({ metadata, ...command }));
  });
  const before = process.cpuUsage();
  const batch = new CommandBatch({
    partition: 0,
    partitionCount: 1,
    store,
    registry,
    logger: silentLogger,
    now,
    idempotencyMilliseconds,
    retentionMilliseconds: idempotencyMilliseconds,
  });
  for (const value of values) {
    batch.decide({ partition: 0, offset, appendedAt: now, value }, allTogglesOff);
    offset += 1;
  }
  const { state } = batch.write();
  const { user, system } = process.cpuUsage(before);
  await store.commit(state, () => Promise.resolve([{ topic: accountsTopic, partition: 0, nextOffset: offset }]));
  const refused = batch.decided.find(({ outcome }) => outcome !== 'committed');
  if (refused !== undefined) throw new Error(`A ${refused.type} was ${refused.outcome}`);
  return user + system;
}

/** Decides fees on new loans. @returns the processor time of each, in microseconds */
async function decideRound(number: number): Promise<number> {
  const product = `product-${number}`;
  const loans = Array.from({ length: loansPerRound }, (_, index) => `loan-${number}-${index}`);
  const each = (type: string, payload: object): Command[] =>
    loans.map((loanAccountId) => ({ type, loanAccountId, payload }));
  await decide([
    { type: 'CREATE_PRODUCT', loanProductId: product, payload: feeProduct },
    ...each('CREATE_LOAN', { productTypeKey: product, loanAmount: 1000 }),
  ]);
  await decide(each('CHANGE_STATE', { action: 'APPROVE' }));
  await decide(each('DISBURSE', {}));
  const fees = Array.from({ length: commandsPerLoan }, () =>
    each('APPLY_FEE', { amount: 0.01, installmentNumber: 4 }),
  ).flat();
  let microseconds = 0;
  for (let start = 0; start < fees.length; start += commandsPerCommit) {
    microseconds += await decide(fees.slice(start, start + commandsPerCommit));
  }
  return microseconds / fees.length;
}

const measured: number[] = [];
for (let round = 0; round < warmUpRounds + rounds; round += 1) {
  const each = await decideRound(round);
  if (round >= warmUpRounds) measured.push(each);
}
await registry.stop();
await log.close();
console.log(JSON.stringify({ processorMicroseconds: Math.min(...measured) }));
process.exit(0);
