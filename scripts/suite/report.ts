import { sumOf } from './counts.ts';
import { processorSeconds } from './runner/processor-time.ts';
import type { FileOutcome } from './runner/runner.ts';
import { countedOutcomes, type SecondRun } from './second-runs.ts';
import { nameOn, type TestFile } from './test-files.ts';

/**
 * The output of a run of many files: a line for each file when it is done, then times, and at the end the failures.
 * A line begins with two times, that on the clock and that of the processor.
 */
export const report = {
  /** A file that is done. Its test titles follow when a test failed, and the reasons of skipped tests. */
  file(outcome: FileOutcome, verbose: boolean): void {
    const { counts, output } = outcome;
    const facts = [`${counts.passed} passed`];
    if (counts.failed > 0) facts.push(`${counts.failed} FAILED`);
    if (counts.skipped > 0) facts.push(`${counts.skipped} skipped`);
    console.log(`${timesOf([outcome])}  ${nameOf(outcome.file)}: ${facts.join(', ')}`);
    if (verbose || counts.failed > 0) console.log(output.trimEnd());
    else for (const reason of skipReasons(output)) console.log(`         ${reason}`);
  },

  /** A file that failed, and that runs again from now on. */
  again(file: TestFile): void {
    console.log(`Runs again, alone: ${nameOf(file)}`);
  },

  summary(outcomes: readonly FileOutcome[], badEnds: readonly string[], secondRuns: readonly SecondRun[]): void {
    const parts = new Map<string, FileOutcome[]>();
    for (const outcome of outcomes) {
      const part = partOf(outcome.file);
      parts.set(part, [...(parts.get(part) ?? []), outcome]);
    }
    console.log('\nHow long each part took, its files one after another, and its processor time:');
    const times = [...parts].map(([name, files]) => ({ name, files, took: timeOf(files) }));
    for (const { name, files } of times.sort((left, right) => right.took - left.took)) {
      const { passed } = sumOf(...files.map(({ counts }) => counts));
      console.log(`${timesOf(files)}  ${name} (${files.length} files, ${passed} tests passed)`);
    }
    console.log(`${timesOf(outcomes)}  all of them, one after another`);
    console.log(`${seconds(processorSeconds())} of processor time with their processes and clusters`);
    for (const { first, second } of secondRuns) {
      if (second.counts.failed > 0) continue;
      console.log(`\nPASSED ONLY WHEN IT RAN AGAIN, ALONE: ${nameOf(first.file)}\nThe first time:\n${first.failures}`);
    }
    const failed = countedOutcomes(outcomes, secondRuns).filter(({ failures }) => failures !== '');
    for (const { file, failures } of failed) console.log(`\nFAILED: ${nameOf(file)}\n${failures}`);
    if (badEnds.length === 0) return;
    for (const end of badEnds) console.log(`\nFAILED: ${end}`);
    console.log('Files after which more was open than before:');
    for (const { file, opened } of outcomes) {
      if (opened.length > 0) console.log(`  ${nameOf(file)}: ${opened.join(', ')}`);
    }
  },
};

function nameOf({ source, backend }: TestFile): string {
  return nameOn(backend, source);
}

/** The folder below test/, such as `test/broker`. */
function partOf({ source, backend }: TestFile): string {
  const folder = source.split('/').slice(0, -1).slice(0, 2).join('/');
  return nameOn(backend, folder);
}

function timeOf(outcomes: readonly FileOutcome[]): number {
  return outcomes.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}

function timesOf(outcomes: readonly FileOutcome[]): string {
  const processor = outcomes.reduce((sum, outcome) => sum + outcome.processorSeconds, 0);
  return `${seconds(timeOf(outcomes) / 1_000)} ${seconds(processor)}`;
}

function seconds(count: number): string {
  return `${count.toFixed(1).padStart(6)} s`;
}

function skipReasons(output: string): string[] {
  return output.split('\n').flatMap((line) => (/^\s*skipped: /.test(line) ? [line.trim()] : []));
}
