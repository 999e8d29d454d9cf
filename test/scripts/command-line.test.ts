import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'mocha';
import {
  WrongUsage,
  flag,
  numberAboveZero,
  oneOf,
  percentage,
  readCommandLine,
  seed,
  someOf,
  text,
  wholeNumber,
} from '../../scripts/command-line.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const options = {
  seeds: wholeNumber(1, 1_000),
  from: wholeNumber(0, undefined),
  minutes: numberAboveZero(60),
  share: percentage(95),
  backend: oneOf(['embedded', 'cluster'], 'embedded'),
  only: someOf(['fuzz', 'faults', 'simulation']),
  report: text(undefined),
  keep: flag,
};

function read(...words: readonly string[]) {
  return readCommandLine(words, options);
}

const initial = {
  seeds: 1_000,
  from: undefined,
  minutes: 60,
  share: 95,
  backend: 'embedded',
  only: ['fuzz', 'faults', 'simulation'],
  report: undefined,
  keep: false,
};

describe('A command line', () => {
  it('has the initial value of each option that is not given', () => {
    expect(read()).to.deep.equal({ values: initial, names: [] });
  });

  it('gives each option its value, in either notation and any order, and the other words as names', () => {
    const words = ['--keep', 'first', '--seeds=7', '--from', '0', '--minutes', '0.5', '--backend', 'cluster', 'second'];
    expect(read(...words, '--only', 'simulation,fuzz', '--share=0', '--report', 'a b.md')).to.deep.equal({
      values: {
        seeds: 7,
        from: 0,
        minutes: 0.5,
        share: 0,
        backend: 'cluster',
        only: ['fuzz', 'simulation'],
        report: 'a b.md',
        keep: true,
      },
      names: ['first', 'second'],
    });
  });

  it('takes the last value of an option that is given twice, and reads no option after --', () => {
    expect(read('--seeds', '2', '--seeds', '3').values.seeds).to.equal(3);
    expect(read('--', '--seeds', '--keep')).to.deep.equal({ values: initial, names: ['--seeds', '--keep'] });
  });

  const accepted: readonly (readonly [keyof typeof options, string, number])[] = [
    ['seeds', '1', 1],
    ['seeds', '9007199254740991', Number.MAX_SAFE_INTEGER],
    ['seeds', '007', 7],
    ['from', '0', 0],
    ['minutes', '0.001', 0.001],
    ['minutes', '90', 90],
    ['share', '0', 0],
    ['share', '99.5', 99.5],
    ['share', '100', 100],
  ];
  for (const [name, written, value] of accepted) {
    it(`accepts --${name} ${written}`, () => {
      expect(read(`--${name}`, written).values[name]).to.equal(value);
    });
  }

  const needs = {
    seeds: 'a whole number above 0',
    from: 'a whole number',
    minutes: 'a number above 0',
    share: 'a number from 0 to 100',
    backend: 'embedded or cluster',
    only: 'some of fuzz,faults,simulation',
    report: 'a value',
  };
  const refused: Readonly<Record<keyof typeof needs, readonly string[]>> = {
    seeds: ['0', '-1', '1.5', '1e3', '', ' ', 'x', '+1', '0x10', '1_000', '9007199254740992', 'Infinity', '1 ', '٣'],
    from: ['-1', '-0', '0.0', '1e3', '', '9007199254740992'],
    minutes: ['0', '0.0', '-1', '1e3', '.5', '5.', '', 'NaN', 'Infinity'],
    share: ['-1', '100.1', '101', '', '5 %'],
    backend: ['', 'Cluster', 'embedded,cluster', 'redis'],
    only: ['', 'nothing', 'fuzz,', 'fuzz,nothing', 'fuzz faults'],
    report: [''],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      it(`refuses --${name} "${value}" in both notations`, () => {
        const message = `--${name} needs ${needs[name as keyof typeof needs]}, not "${value}"`;
        expect(() => read(`--${name}`, value)).to.throw(WrongUsage, message);
        expect(() => read(`--${name}=${value}`)).to.throw(WrongUsage, message);
      });
    }

    it(`refuses --${name} without a value, at the end and before another option`, () => {
      const message = new RegExp(`^--${name} needs [^"]*$`);
      expect(() => read(`--${name}`)).to.throw(WrongUsage, message);
      expect(() => read(`--${name}`, '--keep')).to.throw(WrongUsage, message);
    });
  }

  for (const [words, message] of [
    [['--bogus'], 'there is no option --bogus'],
    [['--bogus=1'], 'there is no option --bogus'],
    [['--seed', '1'], 'there is no option --seed'],
    [['--no-keep'], 'there is no option --no-keep'],
    [['-k'], 'there is no option -k'],
    [['--__proto__', '1'], 'there is no option --__proto__'],
    [['--toString'], 'there is no option --toString'],
    [['--keep=yes'], '--keep takes no value'],
    [['--keep='], '--keep takes no value'],
  ] as const) {
    it(`refuses ${words.join(' ')}`, () => {
      expect(() => read(...words)).to.throw(WrongUsage, new RegExp(`^${message}$`));
    });
  }

  it('has another seed each time, unless one is given', () => {
    const seeds = Array.from({ length: 20 }, () => readCommandLine([], { seed: seed() }).values.seed);
    expect(new Set(seeds).size).to.be.above(1);
    for (const value of seeds) expect(value).to.satisfy(Number.isSafeInteger).and.to.be.at.least(0);
    expect(readCommandLine(['--seed', '0'], { seed: seed() }).values.seed).to.equal(0);
  });
});

/** The programs with their wrong command lines, and what each says about them. */
const programs: readonly (readonly [string, readonly string[], string])[] = [
  ['test/fuzz/run.js', ['--requests', '0'], '--requests needs a whole number above 0, not "0"'],
  ['test/faults/run.js', ['--brokers', '2'], '--brokers needs 1 or 3, not "2"'],
  ['test/faults/run.js', ['smoke'], '"smoke" is not understood'],
  ['test/simulation/run.js', ['--seeds', '-1'], '--seeds needs a whole number above 0, not "-1"'],
  ['test/simulation/run.js', ['--seed', '1.5'], '--seed needs a whole number, not "1.5"'],
  ['test/campaign/run.js', ['--minutes', '0'], '--minutes needs a number above 0, not "0"'],
  ['test/mutants/run.js', ['--folder', 'lending', '--count', '1e3'], '--count needs a whole number above 0, not "1e3"'],
  ['test/mutants/run.js', [], '--folder is missing'],
  ['scripts/bench/bench.js', ['--rounds', ''], '--rounds needs a whole number above 0, not ""'],
  ['scripts/run-tests.js', ['--runners'], '--runners needs a whole number above 0'],
];

describe('The command line of a program', () => {
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => removeFolder(folder));

  for (const [program, words, message] of programs) {
    it(`of ${[program, ...words.map((word) => (word === '' ? '""' : word))].join(' ')} is refused in one line, and nothing runs`, () => {
      const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], {
        cwd: folder,
        env: { ...process.env, TMPDIR: folder },
        encoding: 'utf8',
      });
      expect({ status, stdout, stderr }).to.deep.equal({ status: 2, stdout: '', stderr: `lendstream: ${message}\n` });
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  }

  it('names the parts of the chosen backend when the benchmark is asked for another', () => {
    const path = fileURLToPath(new URL('../../scripts/bench/bench.js', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [path, '--only', 'publish-1k'], { encoding: 'utf8' });
    expect(status).to.equal(2);
    expect(stderr).to.match(/^lendstream: --only needs some of publish,.* on this backend, not "publish-1k"\n$/);
  });
});
