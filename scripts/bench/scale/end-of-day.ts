import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from '../bench-options.ts';
import { partitionCount, startMeasuredService, type MeasuredService } from '../measured-service.ts';
import { runProgram } from '../processes.ts';
import { processorMilliseconds, residentKilobytes } from '../service-figures.ts';
import { figure, quantile } from '../statistics.ts';
import { bytesWrittenByWorker, lastRow } from '../worker-bytes.ts';
import { loanIdOf } from './loan-commands.ts';
import { waitsBeside } from './waits.ts';

/** What the end of a day takes: one on which an installment of every loan is due, and one on which nothing happens. */

const loansAtScaleOne = 100_000;
const loansPerSecondMinimum = 200;
/** Of all threads. It says more than the rate where other programs run. */
const processorMillisecondsPerLoanMaximum = 5;
const bytesPerLoanMaximum = 20_000;
/** Most of it are caches, which have limits, and garbage: it does not depend on the number of loans. */
const residentMegabytesMaximum = 1_250;
/** The largest resident memory of the second half of the day, divided by that of the first half. */
const residentGrowthMaximum = 1.1;
const memoryIntervalMilliseconds = 1_000;
/** On a day on which nothing happens, what is written does not depend on the number of loans. Bytes. */
const quietBytesMaximum = 10_000;

/** Reading a loan and a command, each the longest of all while the day is closed. Milliseconds. */
const readWaitMaximum = 500;
const commandWaitMaximum = 1_000;
/** The longest that a command may be asked to wait, so that its wait is that of its outcome. */
const untilDecided = { Prefer: 'wait=120' };

const disbursedOn = '2026-01-15';
/** Of every loan. On this day an installment is due, and from the next one it is late. */
const dueDate = '2026-02-15';
const quietDate = '2026-02-16';

/** Prints the figures of 100,000 active loans. */
export async function measureEndOfDay({ report, scale, profileFolder }: BenchOptions): Promise<void> {
  const count = Math.ceil(loansAtScaleOne * scale);
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-bench-day-'));
  const environment = { DATA_DIR: dataFolder, END_OF_DAY_SCHEDULE: 'off' };
  try {
    report.begin(`End of a day: ${figure(count)} active loans, by the code of the worker`);
    const first = await startMeasuredService(environment, profileFolder);
    await first.call('POST', '/loanproducts', {
      id: 'day',
      name: 'day',
      type: 'DYNAMIC_TERM_LOAN',
      currency: { code: 'EUR' },
      interestSettings: { interestRate: { defaultValue: 10 } },
      scheduleSettings: { numInstallments: { defaultValue: 12 } },
    });
    await first.stop();
    const products = ['day'];
    const settings = { dataFolder, partitionCount, products, from: 0, count, disbursedOn };
    await runProgram('scripts/bench/scale/write-changelog.js', settings);

    const service = await startMeasuredService(environment, profileFolder);
    const rowBefore = lastRow(dataFolder);
    const processorBegin = processorMilliseconds(service.processId);
    const begin = performance.now();
    const resident: number[] = [];
    const sampling = setInterval(() => {
      resident.push(residentKilobytes(service.processId) / 1024);
    }, memoryIntervalMilliseconds);
    const closing = closeDay(service, dueDate);
    let next = 0;
    const [reads, commands] = await Promise.all([
      waitsBeside(closing, () => service.call('GET', `/loans/${loanIdOf((next += 1) % count)}`)),
      waitsBeside(closing, () =>
        service.call(
          'POST',
          `/loans/${loanIdOf((next += 1) % count)}/repayment-transactions`,
          { amount: 1 },
          untilDecided,
        ),
      ),
    ]);
    await closing;
    clearInterval(sampling);
    const rate = (count * 1_000) / (performance.now() - begin);
    const processorPerLoan = (processorMilliseconds(service.processId) - processorBegin) / count;
    const bytesPerLoan = bytesWrittenByWorker(dataFolder, rowBefore) / count;
    const half = Math.floor(resident.length / 2);
    const megabytes = Math.max(...resident.slice(half));
    const growth = megabytes / Math.max(...resident.slice(0, half));
    const name = `end of a day with ${figure(count)} loans due`;
    report.printFigure(
      name,
      `${figure(rate)} loans/s`,
      rate >= loansPerSecondMinimum,
      `>= ${figure(loansPerSecondMinimum)} loans/s`,
    );
    report.printFigure(
      `${name}, processor time`,
      `${processorPerLoan.toFixed(2)} ms for each`,
      processorPerLoan <= processorMillisecondsPerLoanMaximum,
      `<= ${processorMillisecondsPerLoanMaximum} ms`,
    );
    report.printFigure(
      `${name}, data`,
      `${figure(bytesPerLoan)} bytes for each`,
      bytesPerLoan <= bytesPerLoanMaximum,
      `<= ${figure(bytesPerLoanMaximum)}`,
    );
    report.printFigure(
      `${name}, resident memory`,
      `${figure(megabytes)} MB`,
      megabytes <= residentMegabytesMaximum,
      `<= ${residentMegabytesMaximum} MB`,
    );
    report.printFigure(
      `${name}, resident memory in the second half / in the first half`,
      growth.toFixed(2),
      growth <= residentGrowthMaximum,
      `<= ${residentGrowthMaximum}`,
    );

    for (const [request, waits, maximum] of [
      ['reading a loan', reads, readWaitMaximum],
      ['a repayment', commands, commandWaitMaximum],
    ] as const) {
      const longest = Math.max(...waits);
      report.printFigure(
        `${name}, the longest wait of ${request} meanwhile`,
        `${figure(longest)} ms (p99 ${figure(quantile(waits, 0.99))} ms of ${figure(waits.length)})`,
        longest <= maximum,
        `<= ${figure(maximum)} ms`,
      );
    }

    const rowBeforeQuiet = lastRow(dataFolder);
    const quietBegin = performance.now();
    await closeDay(service, quietDate);
    const milliseconds = performance.now() - quietBegin;
    const quietBytes = bytesWrittenByWorker(dataFolder, rowBeforeQuiet);
    report.printFigure(
      'end of a day on which nothing happens, data',
      `${figure(quietBytes)} bytes in ${figure(milliseconds)} ms`,
      quietBytes <= quietBytesMaximum,
      `<= ${figure(quietBytesMaximum)} bytes`,
    );
    await service.stop();
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

/** Returns when the day is closed on every partition: a request waits for a part of the time. */
async function closeDay(service: MeasuredService, businessDate: string): Promise<void> {
  for (;;) {
    const { status } = await service.call('POST', '/organization:endOfDay', { businessDate });
    if (status === 'CLOSED') return;
  }
}
