import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { fixed, measured, type Measured, type TableFigure } from '../../../scripts/size/measured.ts';
import { defaultStreamingLimits } from '../../../src/broker/definitions/streaming-limits.ts';
import { lendingEventTypeNames } from '../../../src/lending-format/lending-topics.ts';
import { packageRoot } from '../../../src/package-root.ts';

const costs: readonly [string, Measured][] = Object.entries(measured);

/** The rows of all tables of a document, each as its cells. */
function rowsOf(document: string): string[][] {
  return readFileSync(join(packageRoot, document), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** Whether a row has a figure with its unit. */
function hasFigure(row: readonly string[], { figure, unit }: TableFigure): boolean {
  const cells = row.slice(1).join(' | ');
  const numbers = [...cells.matchAll(/(?<![\d.,])\d[\d,]*(?:\.\d+)?(?![\d.,]*\d)/g)];
  return numbers.some(({ index, 0: text }) => {
    const follows = cells.slice(index + text.length).trimStart();
    return Number(text.replaceAll(',', '')) === figure && new RegExp(`^${unit}(?![\\w/])`).test(follows);
  });
}

/** The rows that a figure names and that have it. */
function rowsWith(figure: TableFigure): string[][] {
  const rows = rowsOf(figure.document);
  const named = rows.filter(([first]) => first === figure.row);
  const found = named.length > 0 ? named : rows.filter(([first]) => first?.includes(figure.row));
  return found.filter((row) => hasFigure(row, figure));
}

describe('The measured costs', () => {
  for (const [name, { from }] of costs) {
    it(`have ${name} as the row of a table does`, () => {
      for (const figure of from) {
        const { document, row, figure: number, unit } = figure;
        expect(rowsWith(figure), `rows "${row}" of ${document} with ${number} ${unit}`).to.have.length(1);
      }
    });
  }

  it('say how they follow from figures that are not the costs themselves, and which command measures them', () => {
    for (const [name, { value, unit, from, how, command }] of costs) {
      expect(from.length, name).to.be.above(0);
      expect(value > 0 && Number.isFinite(value), name).to.equal(true);
      if (from.length > 1 || from[0]?.figure !== value) expect(how, name).to.match(/\w/);
      expect(unit, name).to.match(/\w/);
      expect(command, name).to.match(/^npm run (bench|size) -- /);
    }
  });

  it('work with the limits of the code', () => {
    expect(fixed).to.include({
      subscriptionPartitionsUsual: defaultStreamingLimits.partitionsPerSubscription,
      eventTypePartitionsUsual: defaultStreamingLimits.partitionsPerEventType,
      lendingTopics: lendingEventTypeNames.length + 3,
    });
    const missedChanges = readFileSync(join(packageRoot, 'src/redis/missed-changes-and-dead-nodes.ts'), 'utf8');
    expect(missedChanges).to.include('roundIntervalMilliseconds = missedChangesMillisecondsMaximum * 0.75;');
    expect(missedChanges).to.include(`uncountedChangesMilliseconds = ${fixed.checkAtRestSeconds}_000;`);
    const settings = readFileSync(join(packageRoot, 'src/config.ts'), 'utf8');
    expect(settings).to.include(`'LENDING_PARTITIONS', 4, 1, ${fixed.lendingPartitionsMaximum})`);
  });
});
