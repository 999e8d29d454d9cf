import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { describeProfiles, threadTimes, type CpuProfile } from '../../../scripts/bench/profile.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const second = 1_000_000;

/** Each of these functions is on top of the stack for one second, in this order, from the tenth second on. */
function profileOf(...functions: readonly (readonly [name: string, url: string])[]): CpuProfile {
  const startTime = 10 * second;
  return {
    nodes: functions.map(([functionName, url], index) => ({ id: index + 1, callFrame: { functionName, url } })),
    startTime,
    endTime: startTime + functions.length * second,
    samples: functions.map((_, index) => index + 1),
    timeDeltas: functions.map((_, index) => (index === 0 ? 0 : second)),
  };
}

const folderOfProduct = 'file:///somewhere/dist/src';
const append = ['append', `${folderOfProduct}/embedded/log.js`] as const;
const idle = ['(idle)', ''] as const;

/** A round from one second of the clock to another. */
function round(from: number, to: number) {
  return { title: 'Publishing', begin: from * second, end: to * second };
}

describe('The profile of a benchmark', () => {
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => removeFolder(folder));

  it('names functions of the product by themselves, and groups all others', () => {
    const profile = profileOf(
      append,
      ['', `${folderOfProduct}/app.js`],
      ['writev', ''],
      ['writeBuffer', ''],
      ['(garbage collector)', ''],
      ['(program)', ''],
      ['postMessage', ''],
      ['handle', 'file:///somewhere/node_modules/router/lib/layer.js'],
      ['send', 'file:///somewhere/node_modules/a/node_modules/@scope/name/index.js'],
      ['writeHead', 'node:_http_server'],
      ['write_', 'node:_http_outgoing'],
      ['onStreamRead', 'node:internal/stream_base_commons'],
      ['now', 'node:internal/perf/utils'],
      ['wasm-function[0]', 'wasm://wasm/1234'],
      idle,
    );
    const { total, busy, byGroup } = threadTimes(profile, true, [round(0, 100)]);
    expect([total, busy]).to.deep.equal([15 * second, 14 * second]);
    expect(Object.fromEntries(byGroup)).to.deep.equal({
      'src/embedded/log.ts: append': second,
      'src/app.ts: unnamed functions': second,
      'kernel: writes to connections': 2 * second,
      'garbage collector': second,
      'kernel: reads, and the engine itself': second,
      'native function postMessage': second,
      'library router': second,
      'library @scope/name': second,
      'Node.js: HTTP': 2 * second,
      'Node.js: connections and streams': second,
      'Node.js: others': second,
      'compiled routines': second,
    });
  });

  it('counts what happened within the rounds alone, to the microsecond', () => {
    const profile = profileOf(append, idle, append, ['writev', '']);
    const rounds = [round(10.5, 11.25), round(13.9, 20)];
    const { total, busy, byGroup } = threadTimes(profile, true, rounds);
    expect([total, busy]).to.deep.equal([0.85 * second, 0.6 * second]);
    expect([...byGroup]).to.deep.equal([
      ['src/embedded/log.ts: append', 0.5 * second],
      ['kernel: writes to connections', 0.1 * second],
    ]);
    expect(threadTimes(profile, true, [round(14, 20)]).total).to.equal(0);
  });

  it('names a thread by the file of the product where it is most of the time', () => {
    const read = ['read', `${folderOfProduct}/embedded/fetcher.js`] as const;
    const profile = profileOf(append, read, read, ['writev', ''], ['writev', ''], ['writev', '']);
    expect(threadTimes(profile, false, [round(0, 100)]).name).to.equal(
      'thread that is mostly in src/embedded/fetcher.ts',
    );
    expect(threadTimes(profile, true, [round(0, 100)]).name).to.equal('main thread');
  });

  it('adds up the same thread of several processes, and has ten lines for each thread at most', () => {
    const many = Array.from({ length: 12 }, (_, index) => [`native${index}`, ''] as const);
    const profiles = [
      ['7.0', profileOf(append, idle, idle, idle)],
      ['8.0', profileOf(append, append, ['writev', ''], idle)],
      ['8.1', profileOf(...many)],
      ['8.2', { ...profileOf(append), endTime: 10.04 * second }],
    ] as const;
    for (const [ids, profile] of profiles) {
      writeFileSync(join(folder, `CPU.20260112.101112.${ids}.001.cpuprofile`), JSON.stringify(profile));
    }
    const lines = describeProfiles(folder, [round(10, 12), round(12, 100)]);
    expect(lines).to.deep.equal([
      'Profile of the service. Publishing',
      '  thread that is mostly in no file of the product: busy for 100.0 % of the time, of which 0.0 % in src',
      ...Array.from({ length: 9 }, (_, index) => `     8.3 %  native function native${index}`),
      '    25.0 %  3 others',
      '  main thread (2 together): busy for 50.0 % of the time, of which 75.0 % in src',
      '    75.0 %  src/embedded/log.ts: append',
      '    25.0 %  kernel: writes to connections',
    ]);
  });
});
