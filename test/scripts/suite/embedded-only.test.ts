import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedOnly } from '../../../scripts/suite/embedded-only.ts';
import { onCluster, opensEitherBackend, testFilesIn } from '../../../scripts/suite/test-files.ts';
import { packageRoot } from '../../../src/package-root.ts';

/** What goes through the ports: these suites run on both backends, whatever the table says. */
const onBoth = [
  /^test\/acceptance\/streaming\//,
  /^test\/audit\//,
  /^test\/broker\/(dead-letters|definitions|log|retained-events|streaming|subscriptions)\//,
  /^test\/broker\/publishing\/(publisher|repeated-events)\./,
  /^test\/worker\//,
  /^test\/http\/streaming\/[^/]*(subscription|stream|cursor|commit|slot|events\.|filters|event-types\.)/,
  /^test\/http\/lending\/[^/]*(loans|commands-done-once|command-requests|loan-events|end-of-day)/,
  /^test\/http\/read-your-writes\./,
  /^test\/e2e\/[^/]*(streams|tokens|events)\.|^test\/e2e\/access\/audit/,
];

describe('the files that run on the embedded store alone', () => {
  const files = testFilesIn();
  const second = new Set(onCluster(files).map(({ source }) => source));

  it('exist, and could run on both', () => {
    const possible = files.filter(opensEitherBackend).map(({ source }) => source);
    expect(possible).to.include.members(Object.keys(embeddedOnly));
  });

  it('are in the order of their names, each with its reason', () => {
    expect(Object.keys(embeddedOnly)).to.deep.equal(Object.keys(embeddedOnly).sort());
    expect(Object.values(embeddedOnly).every((reason) => reason.length > 0)).to.equal(true);
  });

  it('have nothing of publishing, streams, subscriptions, workers, definitions and the audit', () => {
    const sources = files.filter(opensEitherBackend).map(({ source }) => source);
    for (const pattern of onBoth) {
      const matching = sources.filter((source) => pattern.test(source));
      expect(matching, String(pattern)).not.to.deep.equal([]);
      expect([...second], String(pattern)).to.include.members(matching);
    }
  });

  it('have no contract of a port: each contract is tested with the adapters of both backends', () => {
    const contracts = readdirSync(join(packageRoot, 'test/contracts')).filter((name) => name.endsWith('.contract.ts'));
    expect(contracts).to.have.length.of.at.least(3);
    for (const adapters of [['embedded'], ['kafka', 'redis']]) {
      const tests = adapters.map((folder) => textsBelow(folder, '.test.ts')).join('');
      // A contract may be a part of another one, which calls it and does not only know its types.
      const parts = textsBelow('contracts', '.contract.ts').replaceAll(/^import type .*$/gm, '');
      const missing = contracts.filter((name) => ![tests, parts].some((text) => text.includes(`/${name}'`)));
      expect(missing, `contracts that ${adapters.join(' and ')} are not tested with`).to.deep.equal([]);
      expect(contracts.filter((name) => tests.includes(`contracts/${name}'`))).to.have.length.of.at.least(2);
    }
  });
});

/** The texts of the files of a folder of tests, one after another. */
function textsBelow(folder: string, ending: string): string {
  const root = join(packageRoot, 'test', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(root, name), 'utf8'))
    .join('\n');
}
