import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from '../bench-options.ts';
import { partitionCount, startMeasuredService, type MeasuredService } from '../measured-service.ts';
import { runProgram } from '../processes.ts';
import { processorMilliseconds, residentKilobytes } from '../service-figures.ts';
import { figure, quantile } from '../statistics.ts';
import { holderOf, loanIdOf } from './loan-commands.ts';

/** What a process with many loans takes: reading the local copy from the log, a start that has it, and its memory. */

const loansAtScaleOne = 100_000;
const productCount = 5;
const requestCount = 2_000;
const requestsAtOnce = 8;
const residentMegabytesMaximum = 600;
const loansPerSecondMinimum = 20_000;
const startMillisecondsMaximum = 5_000;

/** Prints the figures of a service with 100,000 loans; with a scale of 10, of a million. */
export async function measureManyLoans({ report, scale, profileFolder }: BenchOptions): Promise<void> {
  const count = Math.ceil(loansAtScaleOne * scale);
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-bench-loans-'));
  const start = (): Promise<MeasuredService> => startMeasuredService({ DATA_DIR: dataFolder }, profileFolder);
  try {
    report.begin(`Many loans: the changelog of ${figure(count)}, by the code of the worker`);
    const first = await start();
    const products = Array.from({ length: productCount }, (_, index) => `many-${index}`);
    for (const id of products) await createProduct(first, id);
    await first.stop();
    await runProgram('scripts/bench/scale/write-changelog.js', {
      dataFolder,
      partitionCount,
      products,
      from: 0,
      count,
    });
    for (const suffix of ['', '-wal', '-shm']) await rm(join(dataFolder, `accounts.db${suffix}`), { force: true });

    const beforeRead = performance.now();
    const reading = await start();
    const rate = (count * 1_000) / (performance.now() - beforeRead);
    const processorRate = (count * 1_000) / processorMilliseconds(reading.processId);
    report.printFigure(
      `start that reads ${figure(count)} loans from the log`,
      `${figure(rate)} loans/s, ${figure(processorRate)} for a second of processor time of all threads`,
      rate >= loansPerSecondMinimum,
      `>= ${figure(loansPerSecondMinimum)} loans/s`,
    );
    await reading.stop();

    const beforeStart = performance.now();
    const service = await start();
    const startMilliseconds = performance.now() - beforeStart;
    report.printFigure(
      `start that has the copy of ${figure(count)} loans`,
      `${figure(startMilliseconds)} ms`,
      startMilliseconds <= startMillisecondsMaximum,
      `<= ${figure(startMillisecondsMaximum)} ms`,
    );
    await measureRequests({ report, service, count });
    await service.stop();
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function createProduct(service: MeasuredService, id: string): Promise<void> {
  await service.call('POST', '/loanproducts', {
    id,
    name: id,
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 12 } },
  });
}

interface Requests extends Pick<BenchOptions, 'report'> {
  readonly service: MeasuredService;
  readonly count: number;
}

/** Reads, lists and changes loans all over the file, and prints what that takes. */
async function measureRequests({ report, service, count }: Requests): Promise<void> {
  const milliseconds = new Map<string, number[]>();
  const ask = async (name: string, method: string, path: string, body?: object): Promise<void> => {
    const before = performance.now();
    await service.call(method, path, body);
    milliseconds.set(name, [...(milliseconds.get(name) ?? []), performance.now() - before]);
  };
  const anyNumber = (turn: number): number => (turn * 7_919) % count;
  const requests: readonly ((turn: number) => Promise<void>)[] = [
    (turn) => ask('a loan', 'GET', `/loans/${loanIdOf(anyNumber(turn))}`),
    (turn) => ask('the loans of a holder', 'GET', `/loans?accountHolderId=${holderOf(anyNumber(turn))}`),
    () => ask('the newest loans', 'GET', '/loans?sortBy=creationDate:DESC&limit=50'),
    () => ask('the newest of a state, with the total', 'GET', '/loans?accountState=APPROVED&paginationDetails=ON'),
    (turn) =>
      ask('a change', 'POST', `/loans/${loanIdOf(pendingNumber(turn, count))}:changeState`, { action: 'APPROVE' }),
  ];
  let next = 0;
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      while (next < requestCount) {
        const turn = next;
        next += 1;
        await requests[turn % requests.length]?.(turn);
      }
    }),
  );
  const megabytes = residentKilobytes(service.processId) / 1024;
  report.printFigure(
    `resident memory with ${figure(count)} loans in use`,
    `${figure(megabytes)} MB`,
    megabytes <= residentMegabytesMaximum,
    `<= ${residentMegabytesMaximum} MB`,
  );
  for (const [name, samples] of milliseconds) {
    const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)];
    report.print(
      `${`${name}, ${requestsAtOnce} requests at a time`.padEnd(52)} p50 ${figure(p50)} ms, p99 ${figure(p99)} ms`,
    );
  }
}

/** The number of a loan that is not approved, another one for each turn. */
function pendingNumber(turn: number, count: number): number {
  return (turn * 10 + 1) % count;
}
