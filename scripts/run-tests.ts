import { availableParallelism } from 'node:os';
import { flag, readCommandLine, wholeNumber } from './command-line.ts';
import { lineOf, type Counts } from './suite/counts.ts';
import { runNamedFiles } from './suite/named-files.ts';
import { endByItself } from './suite/runner/open-resources.ts';
import { findTests, testFilesIn } from './suite/test-files.ts';
import { runSideBySide } from './suite/side-by-side.ts';

/**
 * Runs the compiled tests: all of them, or those of a folder, in several processes; files that are named in this one.
 * The last line has only their counts. scripts/test calls it.
 */

/**
 * Tests wait more than they work, so a processor serves several runners. With three for each, a quarter of the time of
 * the processors is left over; with five, tests wait for each other. More than eight would need much memory.
 */
const runnersDefault = Math.min(8, 4 * availableParallelism());

async function run(): Promise<Counts | undefined> {
  try {
    const { values, names } = readCommandLine(process.argv.slice(2), {
      runners: wholeNumber(1, runnersDefault),
      verbose: flag,
      'record-durations': flag,
      once: flag,
    });
    const options = { ...values, recordsDurations: values['record-durations'] };
    const named = names.map((name) => {
      const tests = findTests(name);
      if (tests === undefined) throw new Error(`there is no test file or folder ${name}`);
      return tests;
    });
    if (named.length === 0) return await runSideBySide(testFilesIn(), options);
    const files = named.flatMap((tests) => tests.files);
    if (named.some(({ isFolder }) => isFolder)) return await runSideBySide(files, options);
    return await runNamedFiles(files);
  } catch (error) {
    console.error(`lendstream: ${(error as Error).message}`);
    process.exitCode = 2;
    return undefined;
  }
}

const counts = await run();
if (counts !== undefined) {
  process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
  console.log(lineOf(counts));
}
endByItself((line) => console.error(line));
