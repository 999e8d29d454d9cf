import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createReport, type Ratio, type Report } from '../../../scripts/bench/report.ts';

/** A report that shows nothing to the person who waits. */
function quietReport(isProfiled = false): Report {
  return createReport(1, 'A machine', isProfiled, () => {});
}

const publish: Ratio = { name: 'publish / bare server', ratios: [0.5], atLeast: 0.5, figures: '1 against 2 events/s' };

describe('The report of a benchmark', () => {
  it('ends well when every target was reached, if only just', () => {
    const report = quietReport();
    report.printRatio(publish);
    report.printFigure('memory', '20 KB', true, '<= 20 KB');
    expect(report.conclusion()).to.deep.equal({ text: 'Every target was reached.', exitCode: 0 });
  });

  it('fails when a single target was not measured, and says which and why', () => {
    const report = quietReport();
    report.printRatio(publish);
    report.printUnmeasured('publish / Redis', 'redis-server is not installed');
    expect(report.lines.at(-1)).to.match(/^publish \/ Redis +NOT MEASURED: redis-server is not installed$/);
    expect(report.conclusion()).to.deep.equal({
      text: 'Not measured, which counts as missed: publish / Redis (redis-server is not installed).',
      exitCode: 1,
    });
  });

  it('fails when a target was missed, even by a little', () => {
    const report = quietReport();
    report.printRatio({ ...publish, ratios: [0.499] });
    expect(report.lines.at(-1)).to.contain('at least 0.5  MISSED');
    expect(report.conclusion()).to.deep.equal({ text: '1 target was missed.', exitCode: 1 });
    report.printFigure('memory', '21 KB', false, '<= 20 KB');
    report.printUnmeasured('publish / Redis', 'redis-server is not installed');
    const { text, exitCode } = report.conclusion();
    expect(text).to.match(/^2 targets were missed\.\nNot measured/);
    expect(exitCode).to.equal(1);
  });

  it('judges no target when the service was profiled, and says so beside each', () => {
    const report = quietReport(true);
    report.printRatio({ ...publish, ratios: [0.1] });
    report.printFigure('memory', '21 KB', false, '<= 20 KB');
    for (const line of report.lines.slice(1)) expect(line).to.contain('PROFILED, not judged');
    const text = 'The service was profiled: no target was judged.';
    expect(report.conclusion()).to.deep.equal({ text, exitCode: 0 });
  });

  it('notes the rounds of the service that count, by what was begun last', async () => {
    const report = quietReport();
    report.begin('Publishing');
    await report.inTurns(
      () => Promise.resolve(1),
      () => Promise.resolve(2),
    );
    report.begin('Commits');
    expect(await report.measured(() => Promise.resolve('commits'))).to.equal('commits');
    expect(report.measuredTimes.map(({ title }) => title)).to.deep.equal(['Publishing', 'Commits']);
    for (const { begin, end } of report.measuredTimes) expect(begin).to.be.at.most(end);
  });

  it('counts a ratio without a value as missed', () => {
    const report = quietReport();
    report.printRatio({ ...publish, ratios: [] });
    report.printRatio({ ...publish, ratios: [Number.NaN] });
    expect(report.conclusion()).to.deep.equal({ text: '2 targets were missed.', exitCode: 1 });
  });
});
